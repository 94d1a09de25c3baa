import { expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'

it('F28: a tool that runs longer than the heartbeat timeout is not timed out, and runs once', async () => {
  let runs = 0
  const called = new Deferred()
  const done = new Deferred<string>()
  const slow = tool('slow', () => {
    runs += 1
    called.resolve()
    return done.promise
  })
  const env = await TestEnvironment.start({ tools: [slow], timeouts: { heartbeat: '5s' } })
  const handle = await env.startProgram('print(await slow())')
  await called.promise
  const beats = new Set<string>()
  // Several heartbeat timeouts have passed.
  await expect
    .poll(async () => {
      const { raw } = await handle.describe()
      const [pending] = raw.pendingActivities ?? []
      expect(pending).toMatchObject({ attempt: 1 })
      if (pending?.lastHeartbeatTime) beats.add(JSON.stringify(pending.lastHeartbeatTime))
      return beats.size
    })
    .toBeGreaterThan(8)
  done.resolve('slowly')
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'slowly\n' }, toolCalls: 1 })
  expect(runs).toBe(1)
  await env.expectCleanEnd(handle)
})
