import { ActivityFailure, ApplicationFailure, CancelledFailure, RetryState } from '@temporalio/common'
import { scheduleActivity, upsertMemo } from '@temporalio/workflow'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { settle, startFakeWorkflow } from '../../../../test/support/workflow/fake-workflow.js'
import { Deferred } from '../../../../test/support/tools.js'
import type { CompensableCall, CompensateInput } from '../../../common/calls/compensation.js'
import { externalValue } from '../../../common/json/external-value.js'
import type { ToolConfig } from '../../../common/calls/tool-config.js'
import { loadCalls, storeCalls } from '../../temporal/activities.js'
import { testRun } from '../../../../test/support/workflow/test-run.js'
import { Compensations } from './compensations.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule, scheduleActivity: vi.fn(), upsertMemo: vi.fn() }
})
vi.mock('../../temporal/activities.js', () => ({ storeCalls: vi.fn(), loadCalls: vi.fn() }))

const stored: (readonly CompensableCall[])[] = []

beforeEach(() => {
  startFakeWorkflow({ taskQueue: 'queue' })
  stored.length = 0
  vi.mocked(upsertMemo).mockReset()
  vi.mocked(scheduleActivity).mockReset().mockResolvedValue(undefined)
  vi.mocked(storeCalls)
    .mockReset()
    .mockImplementation(async (calls) => {
      stored.push(calls)
      return externalValue({ sha256: `${stored.length - 1}`, bytes: 1, preview: '' })
    })
  vi.mocked(loadCalls)
    .mockReset()
    .mockImplementation(async (value) => stored[Number(value['ptc.value'].sha256)] ?? [])
})
afterEach(() => void vi.useRealTimers())

const book: ToolConfig = {
  name: 'book',
  allowedCallers: ['code_execution'],
  effect: 'idempotent',
  timeoutMs: 1_000,
  attempts: 3,
  inputDigest: '',
  compensates: true,
}

const run = () => testRun({ config: { tools: [book], timeouts: { heartbeatMs: 5_000 } } })

const call = (index: number, args = {}): CompensableCall => ({
  tool: 'book',
  caller: 'code_execution',
  position: { turn: 0, cell: 1, index },
  idempotencyKey: `key-${index}`,
  arguments: args,
  summary: `book ${index}`,
})

function complete(compensations: Compensations, ...indices: readonly number[]): void {
  for (const index of indices) compensations.begin(call(index)).succeed(`booking ${index}`)
}

const inputs = () => vi.mocked(scheduleActivity).mock.calls.map(([, args]) => args[0] as CompensateInput)
const compensatedIndices = () => inputs().map(({ position }) => position.index)
const failure = (cause: Error) =>
  new ActivityFailure('failed', 'book', 'id', RetryState.NON_RETRYABLE_FAILURE, '', cause)
const applicationFailure = (type: string) => failure(ApplicationFailure.nonRetryable('it failed', type))

describe('compensations', () => {
  it('compensations run in reverse order of the calls, each with arguments and result of its call', async () => {
    const compensations = new Compensations(run())
    const first = compensations.begin(call(1))
    complete(compensations, 2)
    first.succeed('booking 1')
    const held = new Deferred()
    vi.mocked(scheduleActivity).mockReturnValueOnce(held.promise)
    const done = compensations.compensateAll()
    await settle()
    expect(compensatedIndices()).toEqual([1])
    held.resolve()
    await done
    expect(compensatedIndices()).toEqual([1, 2])
    expect(inputs()[1]).toEqual({ ...call(2), result: 'booking 2' })
    expect(vi.mocked(scheduleActivity).mock.calls[0]).toMatchObject([
      'book.compensate',
      [{}],
      { taskQueue: 'queue', activityId: 'turn-0.cell-1.call-1.compensate', summary: 'compensate book 1' },
    ])
    expect(compensations.report).toEqual({ compensated: 2, failed: 0, failures: [] })
  })

  it('compensations are not scheduled a second time', async () => {
    const compensations = new Compensations(run())
    complete(compensations, 1, 2)
    await Promise.all([compensations.compensateAll(), compensations.compensateCompleted(), settle()])
    await compensations.compensateAll()
    expect(compensatedIndices()).toEqual([2, 1])
  })

  it('compensations begin when the calls in progress have ended', async () => {
    const compensations = new Compensations(run())
    complete(compensations, 1)
    const open = compensations.begin(call(2))
    const done = compensations.compensateAll()
    await settle()
    expect(compensatedIndices()).toEqual([])
    open.fail(failure(new CancelledFailure('cancelled')))
    await settle()
    await done
    expect(compensatedIndices()).toEqual([2, 1])
  })

  it.each([
    ['has refused', applicationFailure('TOOL_REFUSED'), false],
    ['got invalid arguments', applicationFailure('TOOL_INPUT_INVALID'), false],
    ['was never scheduled', new CancelledFailure('cancelled'), false],
    ['has thrown', applicationFailure('TOOL_FAILED'), true],
    ['has timed out', applicationFailure('TOOL_TIMED_OUT'), true],
    ['was lost', applicationFailure('TOOL_OUTCOME_UNKNOWN'), true],
    ['was cancelled', failure(new CancelledFailure('cancelled')), true],
    ['lost its result', applicationFailure('VALUE_STORE_FULL'), true],
  ])('a call is compensated if it may have had an effect: it %s', async (_, thrown, isCompensated) => {
    const compensations = new Compensations(run())
    compensations.begin(call(1)).fail(thrown)
    await compensations.compensateAll()
    expect(inputs()).toEqual(isCompensated ? [call(1)] : [])
  })

  it('compensations that fail permanently do not end the others, and are reported', async () => {
    const compensations = new Compensations(run())
    complete(compensations, 1, 2, 3)
    vi.mocked(scheduleActivity)
      .mockResolvedValueOnce(undefined)
      .mockRejectedValueOnce(applicationFailure('TOOL_REFUSED'))
    await compensations.compensateAll()
    expect(compensatedIndices()).toEqual([3, 2, 1])
    const failed = { tool: 'book', call: 'turn-0.cell-1.call-2', idempotencyKey: 'key-2', message: 'it failed' }
    expect(compensations.report).toEqual({ compensated: 2, failed: 1, failures: [failed] })
    expect(upsertMemo).toHaveBeenCalledExactlyOnceWith({ notCompensated: '1 call: book (turn-0.cell-1.call-2)' })
  })

  it('compensations are dropped when the work is finished', async () => {
    const compensations = new Compensations(run())
    complete(compensations, 1)
    compensations.clear()
    await compensations.compensateAll()
    expect(inputs()).toEqual([])
    expect([compensations.size, compensations.state, compensations.report]).toEqual([0, undefined, undefined])
  })
})

describe('the state for the next execution', () => {
  it('the compensation state of the next execution has a few calls inline', async () => {
    const before = new Compensations(run())
    complete(before, 1, 2)
    await before.store()
    expect(storeCalls).not.toHaveBeenCalled()
    const after = new Compensations(run(), structuredClone(before.state))
    await after.compensateAll()
    expect(compensatedIndices()).toEqual([2, 1])
  })

  it('the compensation state stays small with 1,000 calls over several executions', async () => {
    const large = { text: 'x'.repeat(4_000) }
    let owner = run()
    let compensations = new Compensations(owner)
    for (let execution = 0; execution < 2; execution += 1) {
      for (let index = 1; index <= 500; index += 1)
        compensations.begin(call(500 * execution + index, large)).succeed('y'.repeat(4_000))
      await compensations.store()
      expect(owner.state.storedBytes).toBeGreaterThan(4_000_000)
      expect(JSON.stringify(compensations.state).length).toBeLessThan(64 * 1024)
      owner = run()
      compensations = new Compensations(owner, structuredClone(compensations.state))
    }
    expect(compensations.size).toBe(1_000)
    for (const calls of stored) expect(JSON.stringify(calls).length).toBeLessThan(140_000)
    await compensations.compensateAll()
    expect(compensatedIndices()).toEqual(Array.from({ length: 1_000 }, (_, position) => 1_000 - position))
    expect(compensations.report).toMatchObject({ compensated: 1_000, failed: 0 })
  })

  it('the compensation state has every call once when one value could not be stored', async () => {
    const compensations = new Compensations(run())
    for (let index = 1; index <= 40; index += 1) compensations.begin(call(index)).succeed('y'.repeat(8_000))
    vi.mocked(storeCalls).mockImplementationOnce(vi.mocked(storeCalls).getMockImplementation() ?? vi.fn())
    vi.mocked(storeCalls).mockRejectedValueOnce(applicationFailure('VALUE_STORE_REFUSED'))
    await expect(compensations.store()).rejects.toThrow('failed')
    await compensations.compensateAll()
    expect(compensatedIndices()).toEqual(Array.from({ length: 40 }, (_, position) => 40 - position))
  })

  it('calls without their stored value count as not compensated, and the compensation continues', async () => {
    const before = new Compensations(run())
    for (let index = 1; index <= 40; index += 1) before.begin(call(index)).succeed('y'.repeat(8_000))
    await before.store()
    const lost = stored.at(-1)?.length ?? 0
    vi.mocked(loadCalls).mockRejectedValueOnce(applicationFailure('VALUE_MISSING'))
    await before.compensateAll()
    expect(compensatedIndices()).toHaveLength(40 - lost)
    expect(before.report).toMatchObject({ compensated: 40 - lost, failed: lost })
  })
})
