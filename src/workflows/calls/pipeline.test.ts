import { scheduleActivity, upsertSearchAttributes } from '@temporalio/workflow'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { settle, startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { Deferred } from '../../../test/support/tools.js'
import { approvalKey } from '../../common/calls/approvals.js'
import { callDigest, deriveIdempotencyKey } from '../../common/calls/call-identity.js'
import type { Limits, LoweredLimits } from '../../common/run/limits.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { zeroCounts, type RunKind } from '../../common/run/runs.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { checkToolResult, requestApproval, requestSlot } from '../temporal/activities.js'
import { acceptLocalCall, executeCall } from './pipeline.js'
import { RunCall } from './run-call.js'
import { RunCalls, type RunCallsState } from './run-calls.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return {
    ...(await importOriginal<object>()),
    ...fakeWorkflowModule,
    scheduleActivity: vi.fn(),
    upsertSearchAttributes: vi.fn(),
  }
})
vi.mock('../temporal/activities.js', () => ({
  checkToolResult: vi.fn(),
  prepareArguments: vi.fn(),
  requestApproval: vi.fn(),
  requestSlot: vi.fn(),
}))

/** The activity of this tool ends when a test resolves it. */
let held: Deferred

beforeEach(() => {
  let status: unknown = 'running'
  const typedSearchAttributes = { getAll: () => [{ key: { name: 'PtcStatus' }, value: status }] }
  startFakeWorkflow({ typedSearchAttributes } as object)
  vi.mocked(upsertSearchAttributes)
    .mockReset()
    .mockImplementation((pairs) => {
      const [pair] = pairs as unknown as readonly { readonly value: unknown }[]
      status = pair?.value
    })
  held = new Deferred()
  vi.mocked(requestSlot).mockReset().mockResolvedValue()
  vi.mocked(requestApproval).mockReset().mockResolvedValue({ isNeeded: true })
  vi.mocked(checkToolResult).mockReset().mockResolvedValue('checked')
  vi.mocked(scheduleActivity)
    .mockReset()
    .mockImplementation((name) => (name === 'hold' ? held.promise : Promise.resolve(name)))
})
afterEach(() => void vi.useRealTimers())

const scheduled = () => vi.mocked(scheduleActivity).mock.calls.map(([name]) => name)

const identity = { namespace: 'default', workflowId: 'run', firstExecutionRunId: 'first' }
const positionOf = (index: number) => ({ turn: 1, cell: 1, index })
const keyOf = (name: string, index: number) => deriveIdempotencyKey(identity, positionOf(index), name)

const base = { allowedCallers: ['code_execution'], effect: 'read', timeoutMs: 1, attempts: 1, inputDigest: '' } as const
const later = { deferred: { expiresMs: 1_000_000 } }
const tools: readonly ToolConfig[] = [
  { ...base, name: 'hold' },
  { ...base, name: 'answer', ...later },
  { ...base, name: 'answer_singly', ...later, concurrency: 1 },
  { ...base, name: 'pay', approval: true },
  { ...base, name: 'book', compensates: true },
  { ...base, name: 'look', execution: 'local' },
  { ...base, name: 'mark', execution: 'local', effect: 'once' },
]

/** A run with calls that a test executes. */
class TestRun {
  readonly outcomes: Record<number, CallOutcome> = {}
  readonly calls: RunCalls

  constructor(limits: Partial<Limits> & LoweredLimits = {}, state: RunCallsState = {}, kind: RunKind = 'program') {
    const config = {
      tools,
      approvals: { expiresMs: 1_000_000 },
      searchAttributes: ['PtcStatus'],
      loweredLimits: limits,
    }
    this.calls = new RunCalls(testRun({ kind, limits, config, counts: { ...zeroCounts, turns: 1, cells: 1 } }), state)
  }

  async call(name: string, index: number, digest = name, args: JsonObject = {}): Promise<void> {
    const call: DescribedCall = { tool: name, index, arguments: args, summary: name, digest, refused: null }
    const onOutcome = (outcome: CallOutcome): void => void (this.outcomes[index] = outcome)
    const requested = { call, caller: 'code_execution', position: positionOf(index) } as const
    void executeCall(new RunCall(this.calls, requested), onOutcome)
    await settle()
  }

  async deny(idempotencyKey: string, compensate?: true): Promise<void> {
    const result = { type: 'failure', message: 'no', ...(compensate && { compensate }) } as const
    await Promise.all([
      this.calls.completions.complete({ idempotencyKey, signature: '', digest: '', result }),
      settle(),
    ])
    await settle()
  }

  async complete(idempotencyKey: string, value: JsonValue): Promise<void> {
    const input = { idempotencyKey, signature: '', digest: 'digest', result: { type: 'value', value } } as const
    await Promise.all([this.calls.completions.complete(input), settle()])
    await settle()
  }
}

/** The statuses that were published. */
const statuses = () =>
  vi
    .mocked(upsertSearchAttributes)
    .mock.calls.map(([pairs]) => (pairs as unknown as readonly { readonly value: unknown }[])[0]?.value)

it('a question is in the status of the run while it waits, and another deferred call is not', async () => {
  const run = new TestRun()
  await run.call('answer', 1, 'first', { question: 'Which?', of: 'a' })
  expect(statuses()).toEqual([])
  await run.call('answer', 2, 'second', { question: 'Which?' })
  await run.call('answer', 3, 'third', { question: 'When?' })
  expect(statuses()).toEqual(['waiting_for_result'])
  await run.complete(keyOf('second', 2), 'blue')
  expect(statuses()).toEqual(['waiting_for_result'])
  await run.complete(keyOf('third', 3), 'now')
  expect(statuses()).toEqual(['waiting_for_result', 'running'])
  await run.complete(keyOf('first', 1), 'x')
  expect(statuses()).toHaveLength(2)
})

it('an approval comes before a question in the status of the run', async () => {
  const run = new TestRun()
  await run.call('answer', 1, 'first', { question: 'Which?' })
  await run.call('pay', 2, 'second')
  expect(statuses()).toEqual(['waiting_for_result', 'waiting_for_approval'])
  await run.complete(approvalKey(keyOf('second', 2)), { approved: true })
  expect(statuses()).toEqual(['waiting_for_result', 'waiting_for_approval', 'waiting_for_result'])
})

const tooManyDeferred = { status: 'denied', message: 'a run may have 1 deferred call at once' }

it.each(['answer_singly', 'pay'])('a call that a limit refuses does not start a moment later: %s', async (name) => {
  const run = new TestRun({ callsInFlight: 1, deferredCalls: 1 })
  await run.call('answer', 1)
  await run.call('hold', 2)
  await run.call(name, 3)
  await run.complete(keyOf('answer', 1), 'answered')
  held.resolve()
  await settle()
  expect(run.outcomes).toMatchObject({ 1: { status: 'ok' }, 2: { status: 'ok' }, 3: tooManyDeferred })
  expect(scheduled()).toEqual(['answer', 'hold'])
})

it('a call that waits for its approval keeps waiting in the next execution, though its tool was approved', async () => {
  const idempotencyKey = keyOf('pay', 1)
  const state = { type: 'approval', since: 0, expiresAt: Date.now() + 1_000_000 } as const
  const waiting = [{ idempotencyKey, tool: 'pay', caller: 'code_execution', position: positionOf(1), state }] as const
  const run = new TestRun({}, { waiting, approvals: ['pay'] })
  // The digest of a call of this test is the name of its tool.
  await run.call('pay', 1)
  expect(scheduled()).toEqual([])
  await run.call('pay', 2)
  expect(scheduled()).toEqual(['pay'])
  await run.complete(approvalKey(idempotencyKey), { approved: true })
  expect(scheduled()).toEqual(['pay', 'pay'])
  expect(run.outcomes).toMatchObject({ 1: { status: 'ok' }, 2: { status: 'ok' } })
  expect(requestApproval).not.toHaveBeenCalled()
})

const waitOf = (index: number, digest: string) => approvalKey(deriveIdempotencyKey(identity, positionOf(index), digest))

it('a remembered approval covers only calls with the same arguments', async () => {
  const run = new TestRun()
  await run.call('pay', 1, 'one euro')
  await run.complete(waitOf(1, 'one euro'), { approved: true, remember: true })
  await run.call('pay', 2, 'one euro')
  expect(requestApproval).toHaveBeenCalledTimes(1)
  await run.call('pay', 3, '999 euros')
  expect(requestApproval).toHaveBeenCalledTimes(2)
  expect(run.outcomes).toMatchObject({ 1: { status: 'ok' }, 2: { status: 'ok' } })
  expect(run.outcomes).not.toHaveProperty('3')
  expect(run.calls.state).toMatchObject({ approvals: ['one euro'] })
})

it('an approval with other arguments is remembered for these, not for the arguments from the code', async () => {
  const run = new TestRun()
  await run.call('pay', 1, '999 euros')
  await run.complete(waitOf(1, '999 euros'), { approved: true, remember: true, arguments: { euros: 1 } })
  await run.call('pay', 2, '999 euros')
  expect(requestApproval).toHaveBeenCalledTimes(2)
  await run.call('pay', 3, callDigest('pay', { euros: 1 }))
  expect(requestApproval).toHaveBeenCalledTimes(2)
})

it('an approval is remembered under the key of the tool, also by the next execution of the run', async () => {
  vi.mocked(requestApproval).mockResolvedValue({ isNeeded: true, rememberAs: 'ada' })
  const run = new TestRun()
  await run.call('pay', 1, 'one euro')
  expect(run.calls.state).toMatchObject({
    waiting: [{ idempotencyKey: keyOf('one euro', 1), state: { type: 'approval' }, rememberAs: 'ada' }],
  })
  await run.complete(waitOf(1, 'one euro'), { approved: true, remember: true })
  const next = new TestRun({}, structuredClone(run.calls.state))
  await next.call('pay', 2, '2 euros')
  expect(vi.mocked(requestApproval).mock.lastCall?.[0]).toMatchObject({ remembered: ['ada'] })
})

const optionsOf = (name: string) => vi.mocked(scheduleActivity).mock.calls.find(([each]) => each === name)?.[2]

it('a call that can be compensated is recorded, must end when cancelled, and counts for the limit', async () => {
  const run = new TestRun({ compensations: 2 })
  await run.call('book', 1)
  vi.mocked(scheduleActivity).mockReturnValueOnce(held.promise)
  await run.call('book', 2)
  await run.call('book', 3)
  await run.call('hold', 4)
  expect(run.outcomes).toMatchObject({
    1: { status: 'ok' },
    3: { status: 'denied', message: 'a run may have 2 calls that can be compensated' },
  })
  expect(run.calls.compensations.size).toBe(2)
  held.resolve()
  await settle()
  expect(run.calls.compensations.state?.latest).toMatchObject([
    { tool: 'book', position: positionOf(1), idempotencyKey: keyOf('book', 1), arguments: {}, result: 'book' },
    { tool: 'book', position: positionOf(2) },
  ])
  expect([optionsOf('book'), optionsOf('hold')]).toMatchObject([
    { cancellationType: 'WAIT_CANCELLATION_COMPLETED' },
    { cancellationType: 'TRY_CANCEL' },
  ])
})

it.each(['session', 'embedded'] as const)('a call of a run of kind %s is not recorded', async (kind) => {
  const run = new TestRun({ compensations: 1 }, {}, kind)
  await run.call('book', 1)
  await run.call('book', 2)
  expect(run.outcomes).toMatchObject({ 1: { status: 'ok' }, 2: { status: 'ok' } })
  expect(run.calls.compensations.state).toBeUndefined()
  expect(optionsOf('book')).toMatchObject({ cancellationType: 'TRY_CANCEL' })
})

it('a denial with compensation compensates the earlier calls before the code gets it', async () => {
  const run = new TestRun()
  await run.call('book', 1)
  await run.call('pay', 2)
  await run.call('pay', 3)
  await run.deny(approvalKey(keyOf('pay', 2)))
  expect(run.outcomes[2]).toEqual({ status: 'denied', message: 'pay was not approved: no' })
  expect(scheduled()).toEqual(['book'])
  vi.mocked(scheduleActivity).mockReturnValueOnce(held.promise)
  await run.deny(approvalKey(keyOf('pay', 3)), true)
  expect(scheduled()).toEqual(['book', 'book.compensate'])
  expect(run.outcomes).not.toHaveProperty('3')
  held.resolve()
  await settle()
  expect(run.outcomes[3]).toEqual({ status: 'denied', message: 'pay was not approved: no (1 call was compensated)' })
  expect(run.calls.compensations.size).toBe(0)
})

it('a call that a worker has made keeps its outcome at a limit when it has an effect', () => {
  const { calls } = new TestRun({ callsPerRun: 1 })
  calls.run.count({ toolCalls: 1 })
  const accept = (tool: string) => {
    const call: DescribedCall = { tool, index: 1, arguments: {}, summary: tool, digest: tool, refused: null }
    const requested = { call, caller: 'code_execution', position: positionOf(1) } as const
    return acceptLocalCall(new RunCall(calls, requested), { status: 'ok', value: 7 })
  }
  expect(accept('look')).toEqual({ status: 'denied', message: 'the run has used up its 1 tool calls' })
  expect(accept('mark')).toEqual({ status: 'ok', value: 7 })
  expect(calls.run.counts.toolCalls).toBe(2)
})
