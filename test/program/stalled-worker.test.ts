import { expect, it } from 'vitest'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

/** Keeps this thread from everything else, its heartbeats included. */
function stall(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

it('a call whose attempts were lost with a stalled worker runs once more, not as often as it was given out', async () => {
  const ran: number[] = []
  const begun = new Happening()
  const counted = tool(
    'counted',
    async (_input, { attempt }) => {
      ran.push(attempt)
      begun.happen()
      // Long enough that the first attempt is under way when the worker stalls.
      await new Promise((resolve) => setTimeout(resolve, 500))
      return attempt
    },
    { effect: 'idempotent' },
  )
  const stalls = tool('stalls', async (_input, { attempt }) => {
    await begun.happened
    if (attempt === 1) stall(8_000)
    return attempt
  })
  const stack = await Stack.start({ tools: [counted, stalls], timings: { heartbeat: '1s' } })
  const { outcome } = await stack.run('import asyncio\nprint(await asyncio.gather(counted(), stalls()))')
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringMatching(/^\[\d+, \d+\]\n$/) })
  // Temporal has given it out again after each heartbeat that it missed: all of them were waiting when the stall was over.
  expect(ran).toHaveLength(2)
  expect(ran[0]).toBe(1)
  expect(ran[1]).toBeGreaterThan(2)
})
