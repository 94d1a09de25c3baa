import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Executed } from '../../src/common/sessions.js'
import { patient } from '../support/patient.js'
import { Stack } from '../support/stack.js'
import { uniqueName } from '../support/temporal.js'
import { Happening, tool } from '../support/tools.js'

/** A tool whose effect is counted, and that answers when the test says so. */
function world() {
  const keys: string[] = []
  const asked = new Happening()
  const answer = new Happening<string>()
  const charge = tool(
    'charge',
    (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      asked.happen()
      return answer.happened
    },
    { effect: 'idempotent' },
  )
  return { keys, asked: asked.happened, answer, tools: [charge] }
}

it('F21: a second start with the id of a run is refused, by the client too; the first goes on', async () => {
  const { keys, asked, answer, tools } = world()
  const stack = await Stack.start({ tools })
  const workflowId = uniqueName('program')
  const source = 'print(await charge())'
  const first = await stack.ptc.startProgram({ source }, { workflowId })
  await asked
  const again = { code: 'RUN_EXISTS', message: expect.stringContaining(workflowId) }
  await expect(stack.ptc.startProgram({ source }, { workflowId })).rejects.toMatchObject(again)
  await expect(stack.ptc.startAgent({ question: 'go' }, { workflowId })).rejects.toMatchObject(again)
  answer.happen('once')
  expect(await first.result()).toMatchObject({ outcome: { output: 'once\n' }, toolCalls: 1 })
  expect(keys).toHaveLength(1)
})

it('F21: of two starts at the same moment one wins, and there is one run', async () => {
  const { keys, answer, tools } = world()
  const stack = await Stack.start({ tools })
  answer.happen('once')
  const workflowId = uniqueName('program')
  const starts = Array.from({ length: 5 }, () =>
    stack.ptc.startProgram({ source: 'print(await charge())' }, { workflowId }),
  )
  const settled = await Promise.allSettled(starts)
  const won = settled.filter(({ status }) => status === 'fulfilled')
  expect(won).toHaveLength(1)
  for (const start of settled)
    if (start.status === 'rejected') expect(start.reason).toMatchObject({ code: 'RUN_EXISTS' })
  expect(await stack.ptc.handle(workflowId).result()).toMatchObject({ toolCalls: 1 })
  expect(keys).toHaveLength(1)
})

/** A session to be told things twice. */
async function session() {
  const { keys, asked, answer, tools } = world()
  const stack = await Stack.start({ tools })
  const name = uniqueName('test')
  const run = stack.sessionRun(name)
  await stack.ptc.sessions.execute(name, 'n = 0')
  return { keys, asked, answer, stack, name, run }
}

function executeAs(run: WorkflowHandle, updateId: string, source: string): Promise<Executed> {
  return run.executeUpdate<Executed, [{ source: string }]>('execute', { args: [{ source }], updateId })
}

it('F22: an execution that is sent twice under one id is executed once, and both hear the same', async () => {
  const { keys, answer, stack, name, run } = await session()
  answer.happen('charged')
  const source = 'n += 1\nprint(n, await charge())'
  const [one, other] = await Promise.all([executeAs(run, 'same', source), executeAs(run, 'same', source)])
  expect(one).toMatchObject({ outcome: { status: 'ok', output: '1 charged\n' }, cell: 2 })
  expect(other).toEqual(one)
  // Long after: the first one still counts, whatever the second says.
  expect(await executeAs(run, 'same', 'n = 100')).toEqual(one)
  expect(await stack.ptc.sessions.execute(name, 'print(n)')).toMatchObject({ outcome: { output: '1\n' }, cell: 3 })
  expect(keys).toHaveLength(1)
  await stack.ptc.sessions.close(name)
  await stack.leftClean(run)
})

it('F22: an interrupt that is sent twice stops one execution, and not the next', async () => {
  const { asked, stack, name, run } = await session()
  const stopped = executeAs(run, 'stopped', 'n = 1\nawait charge()')
  await asked
  await Promise.all([1, 2].map(() => run.signal('interrupt', { execution: 'stopped' })))
  expect(await stopped).toMatchObject({ outcome: { status: 'stopped', sessionKept: true } })
  await run.signal('interrupt', { execution: 'stopped' })
  expect(await executeAs(run, 'next', 'print(n)')).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
  expect(await signals(stack, run)).toBe(3)
  await stack.ptc.sessions.close(name)
  await stack.leftClean(run)
})

it('F22: a session that is closed twice, under an execution, ends once, and says so to all', async () => {
  const { asked, stack, name, run } = await session()
  const executing = expect(executeAs(run, 'cut', 'await charge()')).rejects.toMatchObject({
    cause: { type: 'SESSION_CLOSED' },
  })
  await asked
  const [one, other] = await Promise.all([stack.ptc.sessions.close(name), stack.ptc.sessions.close(name)])
  expect(one).toMatchObject({ ended: 'closed', cells: 2 })
  expect(other).toEqual(one)
  await executing
  expect(await signals(stack, run)).toBe(2)
  await stack.leftClean(run)
})

it('F22: an execution that races a close is executed whole or not at all, and is told which', async () => {
  const { keys, answer, stack, name, run } = await session()
  answer.happen('charged')
  const executing = stack.ptc.sessions.execute(name, 'print("n" in globals(), await charge())')
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

async function signals(stack: Stack, run: WorkflowHandle): Promise<number> {
  const count = async () => {
    const { events } = await stack.history(run)
    return events.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length
  }
  await expect.poll(count, patient).toBeGreaterThan(0)
  return count()
}
