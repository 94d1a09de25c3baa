import { expect, it } from 'vitest'
import { AuditLog, type AuditEvent } from '../audit/index.js'
import { PtcError } from '../common/errors.js'
import type { ModelReply } from '../common/agent/messages.js'
import { externalValue } from '../common/json/external-value.js'
import { zeroUsage } from '../common/run/runs.js'
import type { DescribedStepResult, Step, StepResult } from '../common/session/steps.js'
import { EntryCodec, type StreamRecord, StreamPublisher, type StreamSink } from '../stream/index.js'
import { LocalStore } from '../values/local/local-store.js'
import { Values } from '../values/values.js'
import { observeTurn } from './model/observe-turn.js'
import { publishKeptFiles } from './session/observe-files.js'
import { observeStep } from './session/observe-step.js'
import { observeCall, observeCompensation, publishRefusals } from './tool-call/observe-call.js'

const origin = {
  workflowId: 'w',
  runId: 'r',
  attempt: 2,
  signal: new AbortController().signal,
  requester: { user: 'ada' },
}
const values = new Values({ store: new LocalStore('/never-used') })

/** Sinks with the published events for the test. */
function recorder(auditWrite: () => Promise<void> = () => Promise.resolve()) {
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
  const stream = new StreamPublisher({ sink, namespace: 'ns', codec: new EntryCodec(), onTrouble: () => undefined })
  const audited: AuditEvent[] = []
  const write = async (event: AuditEvent) => {
    await auditWrite()
    audited.push(event)
  }
  const audit = new AuditLog({
    sink: { write },
    namespace: 'ns',
    includesCode: false,
    redact: (text) => text,
    retryForMs: 0,
    onLost: () => undefined,
  })
  const published = async (): Promise<readonly StreamRecord[]> => {
    await stream.close()
    return records
  }
  return { sinks: { stream, audit, values }, published, audited }
}

const dataOf = (records: readonly StreamRecord[]) => records.map(({ data }) => data)

const position = { turn: 1, cell: 2, index: 3, toolUseId: 'toolu_1' }
const call = {
  tool: 'copy',
  caller: 'code_execution',
  position,
  idempotencyKey: 'key',
  arguments: { page: 'secret' },
  summary: 'copy secret',
  isDeferred: false,
} as const
const toolUseCaller = { type: 'code_execution_20260120', tool_id: 'toolu_1' }
const fields = { call: 'key', tool: 'copy', caller: 'code_execution', toolUseCaller, turn: 1, cell: 2, index: 3 }

it('the live stream gets the milestones of a call, and none after its end', async () => {
  const { sinks, published } = recorder()
  let late: (text: string) => void = () => undefined
  await observeCall(sinks, call, origin, (milestone) => {
    milestone('page 1')
    late = milestone
    return Promise.resolve(null)
  })
  late('too late')
  expect(dataOf(await published())).toEqual([
    { type: 'call.started', ...fields, summary: 'copy secret' },
    { type: 'milestone.reached', ...fields, text: 'page 1' },
    { type: 'call.completed', ...fields },
  ])
})

it('the live stream and the audit log get the start and the end of a call under the same names', async () => {
  const { sinks, published, audited } = recorder()
  expect(await observeCall(sinks, call, origin, () => Promise.resolve('paid'))).toBe('paid')
  await observeCall(sinks, { ...call, idempotencyKey: 'd', isDeferred: true }, origin, () => Promise.resolve())
  const refused = new PtcError('TOOL_REFUSED', 'no')
  const failing = observeCall(sinks, { ...call, idempotencyKey: 'f' }, origin, () => Promise.reject(refused))
  await expect(failing).rejects.toBe(refused)
  const records = await published()
  expect(records[0]).toMatchObject({ unit: 'call/key', data: { type: 'call.started', call: 'key' } })
  const types = ['call.started', 'call.completed', 'call.started', 'call.deferred', 'call.started', 'call.failed']
  expect(dataOf(records).map(({ type }) => type)).toEqual(types)
  expect(audited.map(({ type }) => type)).toEqual(types)
  expect(dataOf(records).at(-1)).toMatchObject({ status: 'tool_error' })
  expect(audited.at(-1)).toMatchObject({ status: 'tool_error', attempt: 2, user: 'ada', ...fields, call: 'f' })
  expect(new Set(audited.map(({ id }) => id)).size).toBe(6)
  expect(JSON.stringify(audited)).not.toContain('secret')
})

it('a call whose start the audit log cannot store does not start, and the audit log gets no end of it', async () => {
  let writes = 0
  const { sinks, published } = recorder(() => {
    writes += 1
    return Promise.reject(new Error('disk full'))
  })
  let hasRun = false
  const observed = observeCall(sinks, call, origin, () => {
    hasRun = true
    return Promise.resolve()
  })
  await expect(observed).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' })
  expect({ hasRun, writes }).toEqual({ hasRun: false, writes: 1 })
  expect(dataOf(await published()).map(({ type }) => type)).toEqual(['call.started', 'call.failed'])
})

it('the audit log gets compensations and refused calls, and the live stream does not', async () => {
  const { sinks, published, audited } = recorder()
  await observeCompensation(sinks, call, origin, () => Promise.resolve())
  const failure = new PtcError('TOOL_TIMED_OUT', 'late')
  await expect(observeCompensation(sinks, call, origin, () => Promise.reject(failure))).rejects.toBe(failure)
  const described = { tool: 'x'.repeat(200), index: 4, digest: 'd', summary: '', arguments: {} }
  const refused = { status: 'denied', message: 'no' } as const
  await publishRefusals(
    sinks,
    [
      { ...described, refused },
      { ...described, refused: null },
    ],
    origin,
    'r/1',
  )
  expect(await published()).toEqual([])
  expect(audited.map(({ type }) => type)).toEqual([
    'compensation.started',
    'compensation.completed',
    'compensation.started',
    'compensation.failed',
    'call.refused',
  ])
  expect(audited.at(-2)).toMatchObject({ status: 'timed_out' })
  expect(audited.at(-1)).toMatchObject({ tool: 'x'.repeat(100), index: 4, status: 'denied', digest: 'd' })
})

const turn = { turn: 3, model: { provider: 'p', name: 'm', maxTokens: 1 }, history: null, committedTurns: 2 } as const

const reply = (...content: ModelReply['content']): { readonly reply: ModelReply } => ({
  reply: { model: 'm-2', content, stopReason: 'tool_use', usage: zeroUsage, costUsd: null, requestId: null },
})

it('the live stream gets the phases, the pieces and the end of a turn', async () => {
  const { sinks, published, audited } = recorder()
  await observeTurn(sinks, { ...turn, message: 'm-1' }, origin, ({ onProgress, onDelta }) => {
    for (const phase of ['waiting', 'thinking', 'thinking', 'waiting', 'text'] as const)
      onProgress({ phase, outputCharacters: 0 })
    onDelta?.({ type: 'text', block: 1, text: 'Hel' })
    onDelta?.({ type: 'text', block: 1, text: 'lo' })
    return Promise.resolve(reply({ type: 'text', text: 'Hello' }))
  })
  const records = await published()
  expect(dataOf(records)).toEqual([
    { type: 'turn.started', turn: 3, model: 'm', messages: 0, committedTurns: 2, message: 'm-1' },
    { type: 'turn.progressed', turn: 3, phase: 'thinking' },
    { type: 'turn.progressed', turn: 3, phase: 'text' },
    { type: 'text.delta', turn: 3, block: 1, text: 'Hello' },
    { type: 'turn.completed', turn: 3, model: 'm-2', stopReason: 'tool_use' },
  ])
  expect(records.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
  expect(records[0]).toMatchObject({ unit: 'turn/3', attempt: 2, epoch: 0, runId: 'r' })
  expect(audited).toMatchObject([{ type: 'turn.completed', id: 'r/3/turn.completed', turn: 3, model: 'm-2' }])
})

it('the live stream gets the whole reply of a provider that does not stream', async () => {
  const { sinks, published } = recorder()
  const use = { type: 'tool_use', id: 'a', name: 'execute_code', input: { code: 'print(1)' } } as const
  const other = { type: 'tool_use', id: 'b', name: 'pay', input: { code: 'no' } } as const
  const content = [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I run it.' }, use, other] as const
  await observeTurn(sinks, turn, origin, () => Promise.resolve(reply(...content)))
  expect(dataOf(await published()).slice(1, -1)).toEqual([
    { type: 'text.delta', turn: 3, block: 1, text: 'I run it.' },
    { type: 'code.delta', turn: 3, block: 2, text: 'print(1)' },
  ])
})

it('the live stream gets code and message of the error of a turn', async () => {
  const { sinks, published } = recorder()
  const thrown = new PtcError('MODEL_RATE_LIMIT', 'slow down')
  await expect(observeTurn(sinks, turn, origin, () => Promise.reject(thrown))).rejects.toBe(thrown)
  const failure = { code: 'MODEL_RATE_LIMIT', message: 'slow down' }
  expect(dataOf(await published()).at(-1)).toEqual({ type: 'turn.failed', turn: 3, ...failure })
})

const session = { id: 's', epoch: 2 }
const cellStep: Step = { number: 4, now: 0, input: { type: 'cell', cell: 2, source: 'x' } }
const resultsStep: Step = { number: 5, now: 0, input: { type: 'results', results: [] } }
const localCalls = { turn: 1, cell: 2 }
const describe = (result: StepResult) => Promise.resolve(result as DescribedStepResult)

async function publishedBy(step: Step, result: StepResult) {
  const { sinks, published, audited } = recorder()
  const execute = () => Promise.resolve(result)
  expect(await observeStep(sinks, { session, step, localCalls }, origin, { execute, describe })).toBe(result)
  return { records: await published(), audited }
}

it('the live stream gets the steps of a cell under their number and epoch', async () => {
  const first = await publishedBy(cellStep, { type: 'suspended', calls: [], wakeInMs: null, output: 'one\n' })
  expect(first.records).toMatchObject([
    { unit: 'step/s/4', epoch: 2, attempt: 2, data: { type: 'cell.started', turn: 1, cell: 2 } },
    { data: { type: 'output.delta', turn: 1, cell: 2, text: 'one\n' } },
  ])
  const silent = await publishedBy(resultsStep, { type: 'suspended', calls: [], wakeInMs: null, output: '' })
  expect(silent.records).toEqual([])
  const failure: StepResult = { type: 'failed', kind: 'code_error', error: 'NameError', output: 'x'.repeat(100_000) }
  const [output, end] = dataOf((await publishedBy(resultsStep, failure)).records)
  expect(output?.type === 'output.delta' && output.text.length).toBeLessThan(17_000)
  expect(end).toMatchObject({ type: 'cell.failed', status: 'code_error', error: 'NameError' })
  const completed = await publishedBy(resultsStep, { type: 'completed', output: '' })
  expect(dataOf(completed.records)).toEqual([{ type: 'cell.completed', turn: 1, cell: 2 }])
})

it('the live stream and the audit log get the language that a cell names', async () => {
  const input = { type: 'cell', cell: 2, source: 'x', language: 'bash' } as const
  const { records, audited } = await publishedBy({ ...cellStep, input }, { type: 'completed', output: '' })
  expect(dataOf(records)[0]).toEqual({ type: 'cell.started', turn: 1, cell: 2, language: 'bash' })
  expect(audited[0]).toMatchObject({ type: 'cell.started', language: 'bash' })
})

it('the audit log gets the digest of the code and how it ended, without its output and error', async () => {
  const { audited } = await publishedBy(cellStep, { type: 'failed', kind: 'code_error', error: 'secret', output: 'a' })
  const ofStep = { session: 's', epoch: 2, step: 4, turn: 1, cell: 2 }
  const digest = { codeBytes: 1, codeSha256: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881' }
  expect(audited).toMatchObject([
    { type: 'cell.started', id: 's/2/4/cell.started', ...ofStep, ...digest },
    { type: 'cell.failed', id: 's/2/4/cell.failed', ...ofStep, status: 'code_error' },
  ])
  expect(JSON.stringify(audited)).not.toContain('secret')
  const lost = await publishedBy(cellStep, { type: 'lost', cause: 'gone', reason: 'it died' })
  expect(lost.audited.map(({ type }) => type)).toEqual(['cell.started', 'step.failed'])
})

it('the live stream gets the output of a running step, at intervals and not for each of many texts', async () => {
  const { sinks, published } = recorder()
  const result: StepResult = { type: 'completed', output: 'one\ntwo\n' }
  const execute = (onPrinted: (text: string) => void) => {
    for (let count = 1; count <= 1_000; count += 1) onPrinted('one\n'.repeat(count))
    return Promise.resolve(result)
  }
  await observeStep(sinks, { session, step: cellStep, localCalls }, origin, { execute, describe })
  expect(dataOf(await published())).toEqual([
    { type: 'cell.started', turn: 1, cell: 2 },
    { type: 'output.preview', turn: 1, cell: 2, text: 'one\n' },
    { type: 'output.delta', turn: 1, cell: 2, text: 'one\ntwo\n' },
    { type: 'cell.completed', turn: 1, cell: 2 },
  ])
})

const whole = { bytes: 7, sha256: 'a'.repeat(64), mediaType: 'text/csv' }
const ofFile = { path: '/tmp/in/a.csv', ...whole }
const content = externalValue({ sha256: 'b'.repeat(64), bytes: 12, preview: '' })

it('an upload is one event, when the sandbox has its last part', async () => {
  const input = { type: 'file', path: ofFile.path, offset: 0, content } as const
  const first = await publishedBy({ ...resultsStep, input }, { type: 'completed', output: '' })
  expect([...first.records, ...first.audited]).toEqual([])
  const last = await publishedBy({ ...resultsStep, input: { ...input, whole } }, { type: 'completed', output: '' })
  expect(dataOf(last.records)).toEqual([{ type: 'file.uploaded', ...ofFile }])
  expect(last.audited).toMatchObject([
    { type: 'file.uploaded', id: 's/2/5/file.uploaded', session: 's', epoch: 2, step: 5, ...ofFile, user: 'ada' },
  ])
  const failed: StepResult = { type: 'failed', kind: 'code_error', error: 'the disk is full', output: '' }
  const none = await publishedBy({ ...resultsStep, input: { ...input, whole } }, failed)
  expect([...none.records, ...none.audited]).toEqual([])
})

it('each artifact is an event, with the same identity in each attempt', async () => {
  const { sinks, published, audited } = recorder()
  const files = ['/tmp/out/a', '/tmp/out/b'].map((path) => ({ ...ofFile, path, parts: [content], preview: 'secret' }))
  for (const attempt of [1, 2]) await publishKeptFiles(sinks, { session, step: 5, files }, { ...origin, attempt })
  const records = await published()
  expect(dataOf(records).map((data) => data.type === 'file.kept' && data.path)).toEqual([
    '/tmp/out/a',
    '/tmp/out/b',
    '/tmp/out/a',
    '/tmp/out/b',
  ])
  expect(new Set(records.map(({ unit }) => unit)).size).toBe(2)
  expect(new Set(audited.map(({ id }) => id)).size).toBe(2)
  expect(audited[0]).toMatchObject({
    type: 'file.kept',
    ...ofFile,
    path: '/tmp/out/a',
    session: 's',
    epoch: 2,
    step: 5,
  })
  expect(JSON.stringify([records, audited])).not.toContain('secret')
})

it('the live stream gets the loss of a sandbox', async () => {
  const { records } = await publishedBy(cellStep, { type: 'lost', cause: 'gone', reason: 'it died' })
  expect(dataOf(records).map(({ type }) => type)).toEqual(['cell.started', 'step.failed'])
})

it('without sinks, nothing is published and the activities have the same results', async () => {
  const onDeltas: unknown[] = []
  const stored = reply()
  const work = ({ onDelta }: { readonly onDelta: unknown }) => {
    onDeltas.push(onDelta)
    return Promise.resolve(stored)
  }
  expect(await observeTurn({}, turn, origin, work)).toBe(stored)
  expect(onDeltas).toEqual([undefined])
  expect(await observeCall({}, call, origin, () => Promise.resolve(1))).toBe(1)
  const result: StepResult = { type: 'completed', output: 'x' }
  const execute = () => Promise.resolve(result)
  expect(await observeStep({ values }, { session, step: cellStep }, origin, { execute, describe })).toBe(result)
})
