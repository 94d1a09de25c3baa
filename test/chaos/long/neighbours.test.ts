import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker.js'
import { noise, timedCalls } from '../../support/neighbours.js'
import { Stack } from '../../support/stack.js'
import { tool } from '../../support/tools.js'

const sessions = Number(process.env['PTC_TEST_NEIGHBOURS'] ?? 20)
const calls = 5

// How much slower the others get is measured by `npm run bench -- neighbours`.
describeDocker('sessions on one machine', () => {
  it(`F37: ${sessions} at once make their calls while one floods, one burns and one takes all the memory it can get`, async () => {
    const stack = await Stack.start({ tools: [tool('echo', ({ value }) => value)], limits: { cellSeconds: 600 } })
    const noisy = await Promise.all(Object.values(noise).map((source) => stack.startProgram(source)))
    for (const handle of noisy) await stack.activityRuns(handle, 'session.advance')

    const source = timedCalls('echo', calls)
    const results = await Promise.all(Array.from({ length: sessions }, () => stack.run(source)))
    for (const { outcome, toolCalls } of results) {
      expect(outcome.status).toBe('ok')
      expect(JSON.parse(outcome.output)).toHaveLength(calls)
      expect(toolCalls).toBe(calls)
    }

    // All the time there was noise; it ends when it is told to, and leaves nothing.
    for (const handle of noisy) expect((await handle.describe()).status.name).toBe('RUNNING')
    for (const handle of noisy) {
      await handle.cancel()
      await handle.result().catch(() => undefined)
      await stack.leftClean(handle)
    }
  }, 600_000)
})
