import { expect, it, onTestFinished } from 'vitest'
import { metricTable } from '../../../src/common/telemetry/metric-table.js'
import { type Meter, type MetricName, metrics } from '../../../src/common/telemetry/metrics.js'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { startRunSampler } from '../../../src/worker/resources/run-sampler.js'
import { usageSampler } from '../../../src/worker/resources/usage-sampler.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { killContainer } from '../../support/environment/containers.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { type Sample, scrape, total } from '../../support/monitoring/scrape.js'
import { pollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'

const script = [
  turn(code('print((await charge(name="a"))["done"])')),
  turn(code('await charge(name="b")\nraise ValueError("no")')),
  turn(text('done')),
]

describeDocker('the metrics of a worker', () => {
  it('metrics count calls, turns, cells, sessions and recoveries at one address with those of Temporal', async () => {
    const address = await freeAddress()
    const environment = { PTC_METRICS_ADDRESS: address }
    const startedAt = performance.now()
    const { env, ledger } = await startWithLedger(script, { environment })
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    const waiting = await scrape(address)
    expect(total(waiting, 'ptc_tool_calls_running')).toBe(1)
    expect(total(waiting, 'ptc_sessions_open')).toBe(1)
    const stalledMs = total(waiting, 'ptc_event_loop_stall_milliseconds_sum')
    expect(stalledMs).toBeLessThan(performance.now() - startedAt)
    await expectMeasured(env, handle.workflowId)
    await killContainer(handle)
    ledger.releaseReplies('b')
    await env.agentResult(handle)
    const samples = await scrape(address)
    expect(total(samples, 'ptc_tool_calls_total', { tool: 'charge', status: 'ok' })).toBe(2)
    expect(total(samples, 'ptc_tool_call_latency_milliseconds_count', { tool: 'charge' })).toBe(2)
    expect(total(samples, 'ptc_tool_calls_running')).toBe(0)
    expect(total(samples, 'ptc_model_turns_total', { status: 'ok' })).toBe(3)
    expect(total(samples, 'ptc_model_tokens_total', { type: 'output' })).toBeGreaterThan(0)
    // A failure shows how the cells have ended.
    const ends = samples.filter(({ name }) => name === 'ptc_cells_total')
    expect(Object.fromEntries(ends.map(({ labels, value }) => [labels['status'], value]))).toEqual({
      ok: 1,
      code_error: 1,
    })
    expect(total(samples, 'ptc_session_opens_total', { reason: 'new', backend: 'docker' })).toBe(1)
    expect(total(samples, 'ptc_session_opens_total', { reason: 'rebuild' })).toBe(1)
    expect(total(samples, 'ptc_session_losses_total', { cause: 'gone' })).toBe(1)
    expect(total(samples, 'ptc_session_rebuilds_total', { result: 'rebuilt' })).toBe(1)
    expect(total(samples, 'ptc_value_bytes_total', { direction: 'written' })).toBeGreaterThan(0)
    expect(total(samples, 'temporal_workflow_completed')).toBe(1)
    expect(undeclared(samples)).toEqual([])
  })

  it('metrics count the cost of a model, a released sandbox, and the claims of the warm pool', async () => {
    const address = await freeAddress()
    const environment = { PTC_METRICS_ADDRESS: address, TEST_PARK: 'soon', TEST_WARM: '1' }
    const { env, ledger } = await startWithLedger(script, { environment })
    // A killed worker leaves its idle container to the next one.
    onTestFinished(() => env.workers.stop())
    const valueOf = async (name: MetricName, labels?: Sample['labels']) => total(await scrape(address), name, labels)
    await expect.poll(() => valueOf('ptc_warm_pool_idle')).toBe(1)
    ledger.holdReplies('a')
    const handle = await env.startAgent({ model: 'claude-opus-5' })
    await expect.poll(() => valueOf('ptc_session_parks_total', { result: 'removed' })).toBe(1)
    expect(await valueOf('ptc_warm_pool_claims_total', { result: 'hit' })).toBe(1)
    await expect.poll(() => valueOf('ptc_warm_pool_idle')).toBe(1)
    ledger.releaseReplies('a')
    const { costUsd } = await env.agentResult(handle)
    expect(costUsd).toBeGreaterThan(0)
    const microdollars = await valueOf('ptc_model_cost_microdollars_total', { model: 'claude-opus-5' })
    expect(microdollars / 1e6).toBeCloseTo(costUsd ?? 0, 5)
    expect(await valueOf('ptc_session_opens_total', { reason: 'unpark' })).toBe(1)
  })
})

/** Samples the run and its container in the same way as its worker. */
async function expectMeasured({ client, taskQueue }: ProcessEnvironment, workflowId: string): Promise<void> {
  const recorded = new Map<string, number>()
  const instrument = (name: string) => {
    const record = (value: number, { status }: Record<string, string> = {}): void =>
      void recorded.set(status === undefined ? name : `${name} ${status}`, value)
    return { add: record, set: record, record }
  }
  const meter: Meter = { createCounter: instrument, createGauge: instrument, createHistogram: instrument }
  const docker = createDockerBackend()
  const sandbox = (await docker.listSandboxes()).find((each) => each.workflowId === workflowId)
  metrics.use(meter)
  await usageSampler({ docker, owner: sandbox?.id.namespace ?? '' })()
  const { namespace } = client.options
  const runs = async (): Promise<unknown> => {
    await startRunSampler({ connection: client.connection, namespace, taskQueue }).close()
    return [recorded.get('ptc_runs_open running'), recorded.get('ptc_runs_open waiting')]
  }
  // Visibility lags.
  await expect.poll(runs, pollOptions).toEqual([1, 0])
  metrics.use(undefined)
  const { sampled } = await docker.sampleUsage(sandbox?.id.namespace ?? '', 50)
  await docker.close()
  // A Python interpreter, and the CPU time of its start.
  expect(recorded.get('ptc_sandbox_memory_bytes')).toBeGreaterThan(5_000_000)
  expect(Math.max(...sampled.map(({ cpuMs }) => cpuMs))).toBeGreaterThan(10)
}

/** Metrics of this package that the table does not have, or has with other labels. */
function undeclared(samples: readonly Sample[]): readonly string[] {
  const declared = new Map<string, readonly string[]>(
    Object.entries(metricTable).map(([name, { labels }]) => [name, labels]),
  )
  return samples
    .filter(({ name }) => name.startsWith('ptc_'))
    .filter(({ name, labels }) => {
      const known = declared.get(name) ?? declared.get(name.replace(/_(bucket|count|sum)$/, ''))
      const own = Object.keys(labels).filter((label) => !addedLabels.has(label))
      return known === undefined || own.some((label) => !known.includes(label))
    })
    .map(({ name, labels }) => `${name} ${Object.keys(labels).join()}`)
}

/** Labels that Temporal's runtime adds and, in workflow code, its worker. */
const addedLabels = new Set([
  'service_name',
  'le',
  'namespace',
  'task_queue',
  'taskQueue',
  'workflow_type',
  'workflowType',
])
