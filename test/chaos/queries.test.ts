import { expect, it } from 'vitest'
import { queryRun } from '../../src/client/query-run.js'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

it('F31: a query to a worker that has to replay the run first changes nothing, and gets the same answer', async () => {
  const calls: unknown[] = []
  const asked = new Happening()
  const done = new Happening<string>()
  const wait = tool('wait', ({ n }) => {
    calls.push(n)
    if (n !== 3) return n
    asked.happen()
    return done.happened
  })
  const stack = await Stack.start({ tools: [wait], timings: { heartbeat: '30s' } })
  const handle = await stack.startProgram('x = [await wait(n=n) for n in (1, 2, 3)]\nprint(x)')
  await asked.happened
  const inspect = () => queryRun(stack.client, handle, 'inspect')
  const before = await inspect()
  const history = await lengthOf(stack)

  // The next worker knows nothing of the run: the first query makes it replay, and so do those that come at once.
  await stack.stopWorker()
  await stack.startWorker()
  const answers = await Promise.all([inspect(), inspect(), inspect()])
  for (const answer of answers) expect(answer).toEqual(before)
  expect(await stack.ptc.sessions.show(handle.workflowId)).toMatchObject({ state: 'busy', cells: 1, toolCalls: 3 })
  expect(await lengthOf(stack)).toBe(history)
  expect(calls.filter((call) => call !== 3)).toEqual([1, 2])

  done.happen('last')
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "[1, 2, 'last']\n" }, toolCalls: 3 })
  await stack.leftClean(handle)
})

async function lengthOf(stack: Stack): Promise<number> {
  return (await stack.lastRun.describe()).historyLength
}
