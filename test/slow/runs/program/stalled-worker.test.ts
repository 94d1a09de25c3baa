import { expect, it } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

/** Blocks this thread and its heartbeats. */
function blockThread(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

it('of the retries that a stalled worker receives together only the last one runs, after a pause', async () => {
  const ran: { readonly attempt: number; readonly at: number }[] = []
  const begun = new Deferred()
  const stalling = new Deferred()
  const counted = tool(
    'counted',
    async (_input, { attempt }) => {
      ran.push({ attempt, at: performance.now() })
      begun.resolve()
      // The first attempt is running when the worker stalls, even when the other call begins late.
      await stalling.promise
      await new Promise((resolve) => setTimeout(resolve, 500))
      return attempt
    },
    { effect: 'idempotent' },
  )
  const stalls = tool('stalls', async (_input, { attempt }) => {
    await begun.promise
    if (attempt === 1) {
      stalling.resolve()
      blockThread(8_000)
    }
    return attempt
  })
  // The watch thread sends its first heartbeat after a second: too late for these attempts, also when the server ends
  // them half a second late.
  const env = await TestEnvironment.start({ tools: [counted, stalls], timeouts: { heartbeat: '400ms' } })
  const { outcome } = await env.runProgram('import asyncio\nprint(await asyncio.gather(counted(), stalls()))')
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringMatching(/^\[\d+, \d+\]\n$/) })
  // Temporal scheduled a retry after each missed heartbeat, and all retries were waiting when the stall ended. The
  // worker can't know which of them Temporal still expects: a later one may arrive when the last of these has started.
  expect(ran[0]?.attempt).toBe(1)
  expect(ran.length).toBeLessThan(ran.at(-1)?.attempt ?? 0)
  for (const [index, { at }] of ran.entries()) expect(at - (ran[index - 1]?.at ?? 0)).toBeGreaterThan(200)
})
