import { scheduleActivity } from '@temporalio/workflow'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import { Deferred } from '../../../test/support/tools.js'
import type { Caller } from '../../common/calls/calls.js'
import type { FollowedCall } from '../../common/calls/call-activities.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { StoredFile } from '../../common/files/files.js'
import { externalValue } from '../../common/json/external-value.js'
import type { RunKind } from '../../common/run/runs.js'
import { executeCall } from './pipeline.js'
import { RunCall } from './run-call.js'
import { RunCalls } from './run-calls.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule, scheduleActivity: vi.fn() }
})

beforeEach(() => {
  startFakeWorkflow({})
  vi.mocked(scheduleActivity).mockReset()
})
afterEach(() => void vi.useRealTimers())

const part = externalValue({ sha256: 'a'.repeat(64), bytes: 40, preview: '' })
const stored = (name: string): StoredFile => ({
  path: `/tmp/in/tools/0123456789abcdef/${name}`,
  bytes: 30,
  sha256: 'b'.repeat(64),
  mediaType: 'text/plain',
  parts: [part],
})

const render = {
  name: 'render',
  allowedCallers: ['direct', 'code_execution'],
  effect: 'read',
  timeoutMs: 1,
  attempts: 1,
  inputDigest: '',
  returnsFile: true,
} as const

function callsOf(kind: RunKind = 'agent', config: object = { files: { uploads: [] } }): RunCalls {
  return new RunCalls(testRun({ kind, config: { tools: [render], ...config } }))
}

function call(calls: RunCalls, caller: Caller, index = 1, withFollowUp = false): Promise<CallOutcome> {
  const described = { tool: 'render', index, arguments: {}, summary: 'render', digest: 'd', refused: null }
  const followUp = { input: {} as never, record: () => undefined }
  const position = { turn: 1, cell: 1, index }
  return executeCall(
    new RunCall(calls, { call: described, caller, position, ...(withFollowUp && { followUp }) }),
    () => undefined,
  )
}

function returns(name: string): void {
  const result: FollowedCall = { value: stored(name).path, followUps: [], file: stored(name) }
  vi.mocked(scheduleActivity).mockResolvedValueOnce(result)
}

it('the run has the file of a call, counts its bytes, and lets no worker execute the next step', async () => {
  const calls = callsOf()
  returns('a')
  const outcome = await call(calls, 'code_execution', 1, true)
  expect(outcome).toEqual({ status: 'ok', value: stored('a').path, file: stored('a') })
  expect(calls.run.files.all).toEqual([stored('a')])
  expect(calls.run.state.storedBytes).toBe(40)
  const input = vi.mocked(scheduleActivity).mock.calls[0]?.[1][0]
  expect(input).toMatchObject({ returnsFile: true, limits: { tmpBytes: expect.any(Number) } })
  expect(input).not.toHaveProperty('followUp')
})

it('a result without a file is an error of the tool', async () => {
  vi.mocked(scheduleActivity).mockResolvedValueOnce({ value: 'x', followUps: [] })
  expect(await call(callsOf(), 'code_execution')).toEqual({
    status: 'tool_error',
    message: 'render has returned no file',
  })
})

it.each([
  ['a workflow of a user calls it', 'embedded', 'direct', { files: { uploads: [] } }, 'only the code of a session'],
  ['the run uses the sandbox of another', 'agent', 'direct', {}, 'this run has no sandbox of its own'],
] as const)('a call is denied when %s', async (_, kind, caller, config, message) => {
  expect(await call(callsOf(kind, config), caller)).toEqual({
    status: 'denied',
    message: expect.stringContaining(message),
  })
  expect(scheduleActivity).not.toHaveBeenCalled()
})

it('a file has its labels for the code of the session, also when the model has called the tool', async () => {
  const rules = [{ labels: ['pii'], tools: ['send'], action: 'deny' }]
  const calls = callsOf('agent', { files: { uploads: [] }, dataFlow: { rules, labels: { render: ['pii', 'other'] } } })
  returns('a')
  await call(calls, 'direct')
  expect(calls.dataFlow.ofSession).toEqual({ pii: 'render in turn 1' })
  expect(calls.dataFlow.ofModel).toEqual({ pii: 'render in turn 1' })
})

it('the code of a session in a workflow of a user may call it', async () => {
  returns('a')
  expect(await call(callsOf('embedded'), 'code_execution')).toMatchObject({ status: 'ok' })
})

it('a call over the number of files is denied, also while other calls are in progress', async () => {
  const calls = callsOf()
  for (let number = 0; number < 499; number += 1) calls.run.files.addReturned(stored(`${number}`), true)
  const held = new Deferred<FollowedCall>()
  vi.mocked(scheduleActivity).mockReturnValueOnce(held.promise)
  const first = call(calls, 'code_execution', 1)
  const denied = { status: 'denied', message: 'the run has 500 files, and may have no more' }
  expect(await call(calls, 'code_execution', 2)).toEqual(denied)
  held.resolve({ value: '', followUps: [], file: stored('last') })
  expect(await first).toMatchObject({ status: 'ok' })
  expect(await call(calls, 'direct', 3)).toEqual(denied)
  expect(calls.run.files.all).toHaveLength(500)
})
