import { expect, it } from 'vitest'
import { queryRun } from '../../../src/client/temporal/query-run.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'

it('F31: a query to a worker that must first replay the run changes nothing, and returns the same result', async () => {
  const calls: unknown[] = []
  const called = new Deferred()
  const done = new Deferred<string>()
  const wait = tool('wait', ({ n }) => {
    calls.push(n)
    if (n !== 3) return n
    called.resolve()
    return done.promise
  })
  const env = await TestEnvironment.start({ tools: [wait], timeouts: { heartbeat: '30s' } })
  const handle = await env.startProgram('x = [await wait(n=n) for n in (1, 2, 3)]\nprint(x)')
  await called.promise
  const inspect = () => queryRun(env.client, handle, 'inspect')
  const before = await inspect()
  const history = await historyLength(env)

  // The next worker has no cached workflow: the first query makes it replay, and so do concurrent queries.
  await env.workers.stop()
  await env.workers.start()
  const answers = await Promise.all([inspect(), inspect(), inspect()])
  for (const answer of answers) expect(answer).toEqual(before)
  expect(await env.ptc.sessions.show(handle.workflowId)).toMatchObject({ state: 'busy', cells: 1, toolCalls: 3 })
  expect(await historyLength(env)).toBe(history)
  expect(calls.filter((call) => call !== 3)).toEqual([1, 2])

  done.resolve('last')
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: "[1, 2, 'last']\n" }, toolCalls: 3 })
  await env.expectCleanEnd(handle)
})

async function historyLength(env: TestEnvironment): Promise<number> {
  return (await env.lastRun.describe()).historyLength
}
