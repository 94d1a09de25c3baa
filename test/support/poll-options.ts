/**
 * Options of `vi.waitFor` and `vi.waitUntil`; `expect.poll` has the same ones from `vitest.config.ts`. Only a failure
 * reaches the timeout, so that slow machines pass.
 */
export const pollOptions = { timeout: 300_000, interval: 50 } as const

/** For conditions that last only a moment. */
export const fastPollOptions = { ...pollOptions, interval: 10 } as const

/** The same timeout, for functions that take a signal. */
export function pollSignal(): AbortSignal {
  return AbortSignal.timeout(pollOptions.timeout)
}
