import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { ExecuteResult } from '../../../src/common/session/session.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

/** A tool that counts its effects, and returns when the test releases it. */
function blockingCharge() {
  const keys: string[] = []
  const called = new Deferred()
  const answer = new Deferred<string>()
  const charge = tool(
    'charge',
    (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      called.resolve()
      return answer.promise
    },
    { effect: 'idempotent' },
  )
  return { keys, called: called.promise, answer, tools: [charge] }
}

it('F21: a second start with the id of a run is refused, also by the client, and the first run continues', async () => {
  const { keys, called, answer, tools } = blockingCharge()
  const env = await TestEnvironment.start({ tools })
  const workflowId = uniqueName('program')
  const source = 'print(await charge())'
  const first = await env.ptc.startProgram({ source }, { workflowId })
  await called
  const again = { code: 'RUN_EXISTS', message: expect.stringContaining(workflowId) }
  await expect(env.ptc.startProgram({ source }, { workflowId })).rejects.toMatchObject(again)
  await expect(env.ptc.startAgent({ question: 'go' }, { workflowId })).rejects.toMatchObject(again)
  answer.resolve('once')
  expect(await first.result()).toMatchObject({ outcome: { output: 'once\n' }, toolCalls: 1 })
  expect(keys).toHaveLength(1)
})

it('F21: two concurrent starts create one run', async () => {
  const { keys, answer, tools } = blockingCharge()
  const env = await TestEnvironment.start({ tools })
  answer.resolve('once')
  const workflowId = uniqueName('program')
  const starts = Array.from({ length: 5 }, () =>
    env.ptc.startProgram({ source: 'print(await charge())' }, { workflowId }),
  )
  const settled = await Promise.allSettled(starts)
  const won = settled.filter(({ status }) => status === 'fulfilled')
  expect(won).toHaveLength(1)
  for (const start of settled)
    if (start.status === 'rejected') expect(start.reason).toMatchObject({ code: 'RUN_EXISTS' })
  expect(await env.ptc.handle(workflowId).result()).toMatchObject({ toolCalls: 1 })
  expect(keys).toHaveLength(1)
})

/** A session for duplicate requests. */
async function startSession() {
  const { keys, called, answer, tools } = blockingCharge()
  const env = await TestEnvironment.start({ tools })
  const name = uniqueName('test')
  const run = env.sessionHandle(name)
  await env.ptc.sessions.execute(name, 'n = 0')
  return { keys, called, answer, env, name, run }
}

function executeAs(run: WorkflowHandle, updateId: string, source: string): Promise<ExecuteResult> {
  return run.executeUpdate<ExecuteResult, [{ source: string }]>('execute', { args: [{ source }], updateId })
}

it('F22: an execution that is sent twice with one id runs once, and both requests get the same result', async () => {
  const { keys, answer, env, name, run } = await startSession()
  answer.resolve('charged')
  const source = 'n += 1\nprint(n, await charge())'
  const [one, other] = await Promise.all([executeAs(run, 'same', source), executeAs(run, 'same', source)])
  expect(one).toMatchObject({ outcome: { status: 'ok', output: '1 charged\n' }, cell: 2 })
  expect(other).toEqual(one)
  // A late duplicate gets the first result, even with other arguments.
  expect(await executeAs(run, 'same', 'n = 100')).toEqual(one)
  expect(await env.ptc.sessions.execute(name, 'print(n)')).toMatchObject({ outcome: { output: '1\n' }, cell: 3 })
  expect(keys).toHaveLength(1)
  await env.ptc.sessions.close(name)
  await env.expectCleanEnd(run)
})

it('F22: an interrupt that is sent twice stops one execution, not the next one', async () => {
  const { called, env, name, run } = await startSession()
  const stopped = executeAs(run, 'stopped', 'n = 1\nawait charge()')
  await called
  await Promise.all([1, 2].map(() => run.signal('interrupt', { execution: 'stopped' })))
  expect(await stopped).toMatchObject({ outcome: { status: 'stopped', sessionKept: true } })
  await run.signal('interrupt', { execution: 'stopped' })
  expect(await executeAs(run, 'next', 'print(n)')).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
  expect(await signalCount(env, run)).toBe(3)
  await env.ptc.sessions.close(name)
  await env.expectCleanEnd(run)
})

it('F22: a session that is closed twice during an execution ends once, and all requests report that', async () => {
  const { called, env, name, run } = await startSession()
  const executing = expect(executeAs(run, 'cut', 'await charge()')).rejects.toMatchObject({
    cause: { type: 'SESSION_CLOSED' },
  })
  await called
  const [one, other] = await Promise.all([env.ptc.sessions.close(name), env.ptc.sessions.close(name)])
  expect(one).toMatchObject({ ended: 'closed', cells: 2 })
  expect(other).toEqual(one)
  await executing
  expect(await signalCount(env, run)).toBe(2)
  await env.expectCleanEnd(run)
})

it('F22: an execution that races a close runs completely or not at all, and reports which', async () => {
  const { keys, answer, env, name, run } = await startSession()
  answer.resolve('charged')
  const executing = env.ptc.sessions.execute(name, 'print("n" in globals(), await charge())')
  await run.signal('close')
  const outcome = await executing.then(
    ({ outcome: { output }, isNew }) => ({ output, isNew }),
    (thrown: { readonly code?: string }) => thrown.code,
  )
  const possible = [
    { output: 'True charged\n', isNew: false },
    { output: 'False charged\n', isNew: true },
    'SESSION_CLOSED',
  ]
  expect(possible).toContainEqual(outcome)
  expect(keys.length).toBe(outcome === 'SESSION_CLOSED' ? keys.length : 1)
  expect(new Set(keys).size).toBe(keys.length)
})

async function signalCount(env: TestEnvironment, run: WorkflowHandle): Promise<number> {
  const count = async () => {
    const { events } = await env.history(run)
    return events.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length
  }
  await expect.poll(count).toBeGreaterThan(0)
  return count()
}
