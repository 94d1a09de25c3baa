import { expect, it } from 'vitest'
import { PtcError } from '../common/errors.js'
import type { ModelReply } from '../common/runs/messages.js'
import { zeroUsage } from '../common/runs/runs.js'
import type { Step, StepResult } from '../common/session/steps.js'
import { EntryCodec, type StreamRecord, StreamPublisher, type StreamSink } from '../stream/index.js'
import { streamCall, streamStep, TurnStream } from './stream-events.js'

const scope = { workflowId: 'w', runId: 'r', attempt: 2, signal: new AbortController().signal }

/** A publisher with records for the test. */
function recorder() {
  const records: StreamRecord[] = []
  const sink: StreamSink = {
    append: (_stream, entries) => {
      records.push(...entries.map((entry) => JSON.parse(entry) as StreamRecord))
      return Promise.resolve()
    },
    remove: () => Promise.reject(new Error('not used')),
    reader: () => {
      throw new Error('not used')
    },
    close: () => Promise.resolve(),
  }
  const publisher = new StreamPublisher({ sink, namespace: 'ns', codec: new EntryCodec(), onTrouble: () => undefined })
  const published = async (): Promise<readonly StreamRecord[]> => {
    await publisher.close()
    return records
  }
  return { publisher, published }
}

const reply = (...content: ModelReply['content']): ModelReply => ({
  model: 'm',
  content,
  stopReason: 'tool_use',
  usage: zeroUsage,
  costUsd: null,
  requestId: null,
})

it('the live stream gets the milestones of a call, and none after its end', async () => {
  const { publisher, published } = recorder()
  const position = { turn: 1, cell: 2, index: 3, toolUseId: 'toolu_1' }
  const call = { tool: 'copy', caller: 'code_execution', position, idempotencyKey: 'key', summary: 'copy' } as const
  let late: (text: string) => void = () => undefined
  const run = async (milestone: (text: string) => void): Promise<null> => {
    milestone('page 1')
    late = milestone
    return null
  }
  await streamCall(publisher, { ...call, isDeferred: false }, scope, run)
  late('too late')
  const toolUseCaller = { type: 'code_execution_20260120', tool_id: 'toolu_1' }
  const fields = { call: 'key', tool: 'copy', caller: 'code_execution', toolUseCaller, turn: 1, cell: 2 }
  expect((await published()).map(({ data }) => data)).toEqual([
    { type: 'call.started', ...fields, summary: 'copy' },
    { type: 'milestone', ...fields, text: 'page 1' },
    { type: 'call.completed', ...fields, status: 'ok' },
  ])
})

it('the live stream gets the phases, the pieces and the end of a turn', async () => {
  const { publisher, published } = recorder()
  const turn = TurnStream.begin(publisher, { turn: 3, model: 'm', messages: 4, fallbacks: 0 }, scope)
  for (const phase of ['waiting', 'thinking', 'thinking', 'waiting', 'text'] as const) {
    turn?.progress({ phase, outputCharacters: 0 })
  }
  turn?.delta({ type: 'text', block: 1, text: 'Hel' })
  turn?.delta({ type: 'text', block: 1, text: 'lo' })
  turn?.end(reply({ type: 'text', text: 'Hello' }))
  const records = await published()
  expect(records.map(({ data }) => data)).toEqual([
    { type: 'turn.started', turn: 3, model: 'm', messages: 4 },
    { type: 'status', turn: 3, phase: 'thinking' },
    { type: 'status', turn: 3, phase: 'text' },
    { type: 'text', turn: 3, block: 1, text: 'Hello' },
    { type: 'turn.completed', turn: 3, stopReason: 'tool_use' },
  ])
  expect(records.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
  expect(records[0]).toMatchObject({ unit: 'turn/3', attempt: 2, epoch: 0, runId: 'r' })
})

it('the live stream gets the whole reply of a provider that does not stream', async () => {
  const { publisher, published } = recorder()
  const use = { type: 'tool_use', id: 'a', name: 'execute_code', input: { code: 'print(1)' } } as const
  const other = { type: 'tool_use', id: 'b', name: 'pay', input: { code: 'no' } } as const
  const turn = TurnStream.begin(publisher, { turn: 1, model: 'm', messages: 0, fallbacks: 0 }, scope)
  turn?.end(reply({ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I run it.' }, use, other))
  expect((await published()).map(({ data }) => data).slice(1, -1)).toEqual([
    { type: 'text', turn: 1, block: 1, text: 'I run it.' },
    { type: 'code', turn: 1, block: 2, text: 'print(1)' },
  ])
})

it('the live stream gets code and message of the error of a turn', async () => {
  const { publisher, published } = recorder()
  const turn = TurnStream.begin(publisher, { turn: 1, model: 'm', messages: 0, fallbacks: 0 }, scope)
  turn?.fail(new PtcError('MODEL_RATE_LIMIT', 'slow down'))
  const failure = { code: 'MODEL_RATE_LIMIT', message: 'slow down' }
  expect((await published()).at(-1)?.data).toEqual({ type: 'turn.failed', turn: 1, ...failure })
})

const session = { id: 's', epoch: 2 }
const cellStep: Step = { number: 4, now: 0, input: { type: 'cell', cell: 2, source: 'x' } }
const resultsStep: Step = { number: 5, now: 0, input: { type: 'results', results: [] } }
const localCalls = { turn: 1, cell: 2 }

async function publishedBy(step: Step, result: StepResult): Promise<readonly StreamRecord[]> {
  const { publisher, published } = recorder()
  const execute = () => Promise.resolve(result)
  expect(await streamStep(publisher, { session, step, localCalls }, scope, execute)).toBe(result)
  return published()
}

it('the live stream gets the steps of a cell under their number and epoch', async () => {
  const begin = await publishedBy(cellStep, { type: 'suspended', calls: [], wakeInMs: null, output: 'one\n' })
  expect(begin).toMatchObject([
    { unit: 'step/s/4', epoch: 2, attempt: 2, data: { type: 'cell.started', turn: 1, cell: 2 } },
    { data: { type: 'output', turn: 1, cell: 2, text: 'one\n' } },
  ])
  expect(await publishedBy(resultsStep, { type: 'suspended', calls: [], wakeInMs: null, output: '' })).toEqual([])
  const failed: StepResult = { type: 'failed', kind: 'code_error', error: 'NameError', output: 'x'.repeat(100_000) }
  const [output, end] = await publishedBy(resultsStep, failed)
  expect(output?.data.type === 'output' && output.data.text.length).toBeLessThan(17_000)
  expect(end).toMatchObject({ data: { type: 'cell.completed', status: 'code_error', error: 'NameError' } })
  expect((await publishedBy(resultsStep, { type: 'completed', output: '' })).map(({ data }) => data)).toMatchObject([
    { type: 'cell.completed', status: 'completed' },
  ])
})

it('the live stream gets the output of a running step, at intervals and not for each of many texts', async () => {
  const { publisher, published } = recorder()
  const result: StepResult = { type: 'completed', output: 'one\ntwo\n' }
  await streamStep(publisher, { session, step: cellStep, localCalls }, scope, (onPrinted) => {
    for (let count = 1; count <= 1_000; count += 1) onPrinted?.('one\n'.repeat(count))
    return Promise.resolve(result)
  })
  expect((await published()).map(({ data }) => data)).toEqual([
    { type: 'cell.started', turn: 1, cell: 2 },
    { type: 'output.preview', turn: 1, cell: 2, text: 'one\n' },
    { type: 'output', turn: 1, cell: 2, text: 'one\ntwo\n' },
    { type: 'cell.completed', turn: 1, cell: 2, status: 'completed' },
  ])
})

it('the live stream gets the loss of a sandbox', async () => {
  const records = await publishedBy(cellStep, { type: 'lost', cause: 'gone', reason: 'it died' })
  expect(records.map(({ data }) => data.type)).toEqual(['cell.started', 'step.failed'])
})

const call = {
  tool: 'pay',
  caller: 'direct',
  position: { turn: 1, cell: 0, index: 1 },
  idempotencyKey: 'k',
  summary: 'pay 5',
  isDeferred: false,
} as const

it('the live stream gets the start and the end of a call', async () => {
  const { publisher, published } = recorder()
  expect(await streamCall(publisher, call, scope, () => Promise.resolve('paid'))).toBe('paid')
  await streamCall(publisher, { ...call, idempotencyKey: 'd', isDeferred: true }, scope, () => Promise.resolve())
  const refused = new PtcError('TOOL_REFUSED', 'no')
  const failing = streamCall(publisher, { ...call, idempotencyKey: 'f' }, scope, () => Promise.reject(refused))
  await expect(failing).rejects.toBe(refused)
  const records = await published()
  expect(records[0]).toMatchObject({ unit: 'call/k', data: { type: 'call.started', call: 'k', summary: 'pay 5' } })
  const statuses = records.flatMap(({ data }) => (data.type === 'call.completed' ? [data.status] : []))
  expect(statuses).toEqual(['ok', 'deferred', 'tool_error'])
})

it('without a stream, nothing is published and the activities have the same results', async () => {
  expect(TurnStream.begin(undefined, { turn: 1, model: 'm', messages: 0, fallbacks: 0 }, scope)).toBeUndefined()
  expect(await streamCall(undefined, call, scope, () => Promise.resolve(1))).toBe(1)
  const result: StepResult = { type: 'completed', output: 'x' }
  expect(await streamStep(undefined, { session, step: cellStep }, scope, () => Promise.resolve(result))).toBe(result)
})
