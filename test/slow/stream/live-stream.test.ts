import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fileStream, type StreamEvent } from '../../../src/stream/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { filesIn, temporaryFolder } from '../../support/folders.js'
import { faulty, text, turn } from '../../support/script.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import { Deferred, tool } from '../../support/tools.js'

const answer = 'The travel budget was exceeded by Ada, Lin and Grace in the third quarter.'

const unitsOf = (events: readonly StreamEvent[], type: StreamEvent['type']): readonly string[] =>
  events.flatMap((event) => (event.type === type && 'unit' in event && event.unit !== undefined ? [event.unit] : []))

it('a live stream voids the text of a worker that was killed while the model wrote it', async () => {
  const folder = await temporaryFolder()
  const stream = fileStream({ folder })
  const env = await TestEnvironment.startProcesses({
    config: fileURLToPath(new URL('../../fixtures/stream.config.ts', import.meta.url)),
    environment: { TEST_STREAM: folder },
    stream,
    script: [faulty([{ type: 'stall', at: { insideBlock: 0 }, attempt: 1 }], turn(text(answer)))],
  })
  const { workflowId } = await env.startAgent()
  const events: StreamEvent[] = []
  for await (const event of env.ptc.handle(workflowId).stream()) {
    const isFirstText = event.type === 'text.delta' && events.every(({ type }) => type !== 'text.delta')
    if (isFirstText) await env.workers.replace()
    events.push(event)
  }
  expect(shownText(events)).toBe(answer)
  expect(unitsOf(events, 'retry')).toEqual(['turn/1'])
  expect(unitsOf(events, 'reset')).toEqual(['turn/1'])
  expect(events.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  expect(events.filter(({ type }) => type === 'gap')).toEqual([])
})

it('a live stream continues through continue-as-new: each call and each line once', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const count = tool('count', ({ n }) => n)
  const env = await TestEnvironment.start({ stream, tools: [count], limits: { historyEvents: 100 } })
  await env.runProgram('for n in range(60):\n    await count(n=n)\n    if n % 20 == 0: print("at", n)\nprint("done")')
  expect((await env.executionHistories()).length).toBeGreaterThan(1)
  const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
  expect(new Set(unitsOf(events, 'call.started')).size).toBe(60)
  expect(unitsOf(events, 'call.started')).toHaveLength(60)
  expect(unitsOf(events, 'call.completed')).toHaveLength(60)
  expect(shownText(events, 'output')).toBe('at 0\nat 20\nat 40\ndone\n')
  expect(events.filter(({ type }) => type === 'gap')).toEqual([])
})

it('a live stream shows the first step of a session once, although its opening does not wait for its end', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({ stream })
  await env.runProgram('import time\nfor n in range(10):\n    print(n, flush=True)\n    time.sleep(0.3)')
  const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
  expect(events.filter(({ type }) => type === 'retry' || type === 'reset')).toEqual([])
  expect(events.filter(({ type }) => type === 'cell.started')).toHaveLength(1)
  const previews = events.flatMap((event) => (event.type === 'output.preview' ? [event.text] : []))
  expect(previews.filter((text) => !text.startsWith('0\n'))).toEqual([])
  expect(shownText(events, 'output')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n')
})

it('a live stream keeps runs with the same workflow id apart', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({ stream })
  const { workflowId } = await env.startProgram('print("first")')
  await env.lastRun.result()
  const { runId: firstRunId } = await env.lastRun.describe()
  await env.startProgram('print("second")', {}, { workflowId })
  await env.lastRun.result()
  const { runId: secondRunId } = await env.lastRun.describe()
  for (const [runId, expected] of [
    [firstRunId, 'first\n'],
    [secondRunId, 'second\n'],
    [undefined, 'second\n'],
  ] as const) {
    expect(shownText(await readEvents(env.ptc.handle(workflowId, runId).stream()), 'output')).toBe(expected)
  }
})

it('a live stream encrypts the entries with the keys of payloads', async () => {
  const folder = await temporaryFolder()
  const key = new Uint8Array(32).fill(7)
  const env = await TestEnvironment.start({
    stream: fileStream({ folder }),
    encryption: { currentKeyId: 'k1', key: () => key },
    script: [turn(text(answer))],
  })
  await env.runAgent()
  const [file = ''] = await filesIn(folder)
  expect(await readFile(file, 'utf8')).not.toMatch(/budget/)
  expect(shownText(await readEvents(env.ptc.handle(env.lastRun.workflowId).stream()))).toBe(answer)
})

describeDocker('in a container', () => {
  it('a live stream shows the output of a cell once when its sandbox is lost', async () => {
    const stream = fileStream({ folder: await temporaryFolder() })
    const release = new Deferred()
    const began = new Deferred()
    const wait = tool('wait', async () => {
      began.resolve()
      await release.promise
      return 'pong'
    })
    const env = await TestEnvironment.start({ stream, tools: [wait], backend: 'docker' })
    const handle = await env.startProgram('print("one")\nx = await wait()\nprint("two", x)')
    await began.promise
    await env.killContainers(handle)
    release.resolve()
    await handle.result()
    const events = await readEvents(env.ptc.handle(handle.workflowId).stream())
    expect(shownText(events, 'output')).toBe('one\ntwo pong\n')
    expect(events.filter(({ type }) => type === 'gap')).toEqual([])
  })
})
