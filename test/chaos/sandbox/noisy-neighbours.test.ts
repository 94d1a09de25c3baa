import { expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { noisyPrograms, timedCallsProgram } from '../../support/faults/noisy-neighbours.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'
import { waitForActivity } from '../../support/environment/waits.js'

const sessions = Number(process.env['PTC_TEST_NEIGHBOURS'] ?? 20)
const calls = 5

describeDocker('sessions on one machine', () => {
  it(`F37: ${sessions} sessions make calls while one floods, one burns CPU and one takes all memory`, async () => {
    const env = await TestEnvironment.start({
      tools: [tool('echo', ({ value }) => value)],
      limits: { cellSeconds: 600 },
    })
    const noisy = await Promise.all(Object.values(noisyPrograms).map((source) => env.startProgram(source)))
    for (const handle of noisy) await waitForActivity(handle, 'session.step')

    const source = timedCallsProgram('echo', calls)
    const results = await Promise.all(Array.from({ length: sessions }, () => env.runProgram(source)))
    for (const { outcome, toolCalls } of results) {
      expect(outcome.status).toBe('ok')
      expect(JSON.parse(outcome.output)).toHaveLength(calls)
      expect(toolCalls).toBe(calls)
    }

    // The noise has lasted until now. It ends when it is cancelled, and leaves no containers.
    for (const handle of noisy) expect((await handle.describe()).status.name).toBe('RUNNING')
    for (const handle of noisy) {
      await handle.cancel()
      await handle.result().catch(() => undefined)
      await env.expectCleanEnd(handle)
    }
  }, 600_000)
})
