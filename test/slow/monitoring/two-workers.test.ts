import { Runtime } from '@temporalio/worker'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startSampler } from '../../../src/worker/resources/sampler.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { code, text, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

/** Lets the runtime of this process export metrics until the end of the test. Returns the gauges, by name and labels. */
function recordGauges(): ReadonlyMap<string, number> {
  const gauges = new Map<string, number>()
  const gauge = (name: string) => ({
    set: (value: number, labels: Record<string, string> = {}) =>
      void gauges.set([name, ...Object.values(labels)].join(' '), value),
  })
  const ignored = () => ({ add: () => undefined, record: () => undefined })
  const meter = {
    createCounter: ignored,
    createHistogram: ignored,
    createGauge: gauge,
    withTags: () => ({ ...meter, createGauge: ignored }),
  }
  const runtime = Runtime.instance()
  const { metricMeter } = runtime
  Object.assign(runtime, { metricMeter: meter })
  onTestFinished(() => void Object.assign(runtime, { metricMeter }))
  return gauges
}

it('two workers in one process sample the runs of both task queues, and add up their sessions', async () => {
  const gauges = recordGauges()
  const held = [new Deferred(), new Deferred()]
  const start = (release: Deferred) =>
    TestEnvironment.start({
      tools: [tool('wait', () => release.promise)],
      script: [turn(code('await wait()')), turn(text('done'))],
    })
  const first = await start(held[0]!)
  const run = await first.startAgent()
  await expect.poll(() => gauges.get('ptc_sessions_open')).toBe(1)
  const second = await start(held[1]!)
  const other = await second.startAgent()
  await expect.poll(() => gauges.get('ptc_sessions_open')).toBe(2)
  for (const { taskQueue } of [first, second])
    await expect.poll(() => gauges.get(`ptc_runs_open ${taskQueue} running`)).toBe(1)
  held[0]!.resolve()
  await first.agentResult(run)
  await expect.poll(() => gauges.get('ptc_sessions_open')).toBe(1)
  held[1]!.resolve()
  await second.agentResult(other)
  await expect.poll(() => gauges.get('ptc_sessions_open')).toBe(0)
})

it('a sample that fails is logged once, and again when it fails after a success', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const warn = vi.spyOn(Runtime.instance().logger, 'warn').mockReturnValue(undefined)
  onTestFinished(() => warn.mockRestore())
  let isDown = true
  const sample = vi.fn(async () => {
    if (isDown) throw new Error('no server')
  })
  const sampler = startSampler('task queues', sample)
  const samples = async (count: number) => vi.advanceTimersByTimeAsync(count * 15_000)
  await samples(3)
  expect(warn.mock.calls).toEqual([["metrics of task queues can't be sampled: no server"]])
  isDown = false
  await samples(1)
  isDown = true
  await samples(2)
  expect(warn).toHaveBeenCalledTimes(2)
  expect(sample.mock.calls.length).toBeGreaterThan(5)
  await sampler.close()
})
