import { expect, it } from 'vitest'
import type { AgentResult } from '../../../../src/common/run/runs.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

it('F31: a run reset to the middle of a cell gives the same answer, and repeats only lost model turns', async () => {
  const keys: string[] = []
  const charge = tool(
    'charge',
    (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return 'charged'
    },
    { effect: 'idempotent' },
  )
  const env = await TestEnvironment.start({
    tools: [charge],
    script: [turn(code('x = await charge(n=1)')), turn(code('print(x, await charge(n=2))')), answerResult],
  })
  const handle = await env.startAgent()
  await handle.result()
  // Resets to the moment of the first cell's call, whose sandbox no longer exists.
  await resetToCall(env, handle, 'charge')
  const again = env.client.workflow.getHandle(handle.workflowId)
  expect((await again.result()) as AgentResult).toMatchObject({
    status: 'answered',
    answer: 'charged charged',
    turns: 3,
  })
  expect(keys).toHaveLength(4)
  expect(keys.slice(2)).toEqual(keys.slice(0, 2))
  expect(env.api.requests).toHaveLength(5)
  await env.expectCleanEnd(again)
})

it('F31: a run that is reset while it waits gets a sandbox in the state of the reset, not the current one', async () => {
  const called = [new Deferred(), new Deferred()]
  const go = new Deferred<null>()
  let waits = 0
  const wait = tool('wait', () => {
    called[waits]?.resolve()
    waits += 1
    return go.promise
  })
  const env = await TestEnvironment.start({ tools: [wait, tool('echo', ({ value }) => value)] })
  const handle = await env.startProgram('print(await echo(value=1))\nprint(await echo(value=2))\nprint(await wait())')
  await called[0]?.promise
  await resetToCall(env, handle, 'echo')
  const again = env.client.workflow.getHandle(handle.workflowId)
  await called[1]?.promise
  go.resolve(null)
  expect(await again.result()).toMatchObject({ outcome: { status: 'ok', output: '1\n2\nNone\n' } })
  await env.expectCleanEnd(again)
})

it('F31: a run reset by one step continues with the new result, not with effects in its old sandbox', async () => {
  const called = [new Deferred(), new Deferred()]
  const go = new Deferred<null>()
  let looks = 0
  let waits = 0
  const look = tool('look', () => (looks += 1))
  const wait = tool('wait', () => {
    called[waits]?.resolve()
    waits += 1
    return go.promise
  })
  const env = await TestEnvironment.start({ tools: [look, wait] })
  const handle = await env.startProgram('print(await look(), await wait())')
  await called[0]?.promise
  await resetToCall(env, handle, 'look')
  const again = env.client.workflow.getHandle(handle.workflowId)
  await called[1]?.promise
  go.resolve(null)
  expect(await again.result()).toMatchObject({ outcome: { status: 'ok', output: '2 None\n' } })
  await env.expectCleanEnd(again)
})
