import { expect, it } from 'vitest'
import { evictedSandboxes, inMode } from '../../../support/mode.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'
import { faults } from '../../../modes/faults.js'
import { usesStickyQueue } from '../../../modes/uses-sticky-queue.js'

// Without a mode this test is the control: no fault happens by itself.
it('the faults of the mode happen, and no others', async () => {
  const env = await TestEnvironment.start({ tools: [tool('echo', ({ value }) => value)] })
  const { outcome } = await env.runProgram('a = await echo(value="a")\nb = await echo(value="b")\nprint(a + b)')
  expect(outcome).toMatchObject({ status: 'ok', output: 'ab\n' })

  const forgets = !usesStickyQueue(await env.history())
  const opened = (await env.activities()).filter(({ type }) => type === 'session.open').length
  expect({ forgets, opened, ...faults }).toEqual({
    forgets: inMode('always-replay'),
    uncachedWorkers: inMode('always-replay') ? expect.any(Number) : 0,
    opened: 1 + evictedSandboxes(2),
    sandboxesDestroyed: evictedSandboxes(2),
    // Two calls and the end; also the `ready` message, unless it arrives in one chunk with the next message.
    connectionsDropped: inMode('always-reattach') ? expect.toSatisfy((count: number) => count >= 3) : 0,
  })
})
