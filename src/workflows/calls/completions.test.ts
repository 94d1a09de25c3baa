import { ApplicationFailure, CancellationScope } from '@temporalio/workflow'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Deferred } from '../../../test/support/tools.js'
import { settle, startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { checkToolResult } from '../temporal/activities.js'
import { RunCalls } from './run-calls.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule }
})
vi.mock('../temporal/activities.js', () => ({ checkToolResult: vi.fn() }))

beforeEach(() => startFakeWorkflow())
afterEach(() => void vi.useRealTimers())

const waitingCall = { tool: 'answer', caller: 'code_execution', position: { turn: 1, cell: 1, index: 1 } } as const

/** A run in which a call waits. */
function waitingCalls(idempotencyKey: string): RunCalls {
  const calls = new RunCalls(testRun())
  const call = calls.waiting.add({ ...waitingCall, idempotencyKey })
  calls.waiting.apply(call, { type: 'announce' })
  calls.waiting.apply(call, { type: 'wait', since: Date.now(), expiresAt: Date.now() + 1_000_000 })
  return calls
}

/** The checks of results, which a test ends. */
function heldChecks(): Deferred<number | ApplicationFailure>[] {
  const checks: Deferred<number | ApplicationFailure>[] = []
  vi.mocked(checkToolResult).mockImplementation(async () => {
    const check = new Deferred<number | ApplicationFailure>()
    checks.push(check)
    const result = await check.promise
    if (typeof result === 'number') return result
    throw result
  })
  return checks
}

/** Settles with the response to the client. */
const complete = ({ completions }: RunCalls, value: number): Promise<string | undefined> =>
  completions
    .complete({ idempotencyKey: 'key', signature: '', digest: String(value), result: { type: 'value', value } })
    .then(
      () => 'completed',
      ({ type }: ApplicationFailure) => type ?? undefined,
    )

it('each result for a call that is dropped while the first one is checked gets its response', async () => {
  const calls = waitingCalls('key')
  const checks = heldChecks()
  const scope = new CancellationScope()
  const call = calls.waiting.add({ ...waitingCall, idempotencyKey: 'key' })
  const waited = scope
    .run(() => calls.waiting.waitForOutcome(call))
    .catch(() => {
      calls.forget(call)
      return 'dropped'
    })
  const responses: unknown[] = []
  for (const value of [1, 2]) void complete(calls, value).then((response) => responses.push(response))
  await settle()
  scope.cancel()
  await settle()
  expect(await waited).toBe('dropped')
  checks[0]?.resolve(1)
  await settle()
  expect(responses).toEqual(['CALL_NOT_FOUND', 'CALL_NOT_FOUND'])
})

it('a call has one outcome when several results arrive while an invalid one is checked', async () => {
  const calls = waitingCalls('key')
  const checks = heldChecks()
  const responses = [1, 2, 3].map((value) => complete(calls, value))
  await settle()
  checks[0]?.resolve(ApplicationFailure.create({ type: 'TOOL_OUTPUT_INVALID' }))
  await settle()
  checks[1]?.resolve(2)
  await settle()
  expect(checks).toHaveLength(2)
  expect(await Promise.all(responses)).toEqual(['TOOL_OUTPUT_INVALID', 'completed', 'CALL_COMPLETED'])
  expect(calls.state.waiting?.[0]?.state).toEqual({ type: 'completed', outcome: { status: 'ok', value: 2 } })
})
