import { expect, it } from 'vitest'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

it('F28: a tool that is slower than its heartbeats is waited for, and run once', async () => {
  let runs = 0
  const asked = new Happening()
  const done = new Happening<string>()
  const slow = tool('slow', () => {
    runs += 1
    asked.happen()
    return done.happened
  })
  const stack = await Stack.start({ tools: [slow], timings: { heartbeat: '5s' } })
  const handle = await stack.startProgram('print(await slow())')
  await asked.happened
  const beats = new Set<string>()
  // Its time of silence has passed several times over.
  await expect
    .poll(async () => {
      const { raw } = await handle.describe()
      const [pending] = raw.pendingActivities ?? []
      expect(pending).toMatchObject({ attempt: 1 })
      if (pending?.lastHeartbeatTime) beats.add(JSON.stringify(pending.lastHeartbeatTime))
      return beats.size
    })
    .toBeGreaterThan(8)
  done.happen('slowly')
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'slowly\n' }, toolCalls: 1 })
  expect(runs).toBe(1)
  await stack.leftClean(handle)
})
