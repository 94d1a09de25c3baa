/** For `vi.waitFor` and the like: reached on failure only, so that a slow machine fails nothing. */
export const pollOptions = { timeout: 300_000, interval: 50 } as const

/** For what lasts a moment only. */
export const fastPollOptions = { ...pollOptions, interval: 10 } as const

/** The same timeout, for functions that take a signal. */
export function pollSignal(): AbortSignal {
  return AbortSignal.timeout(pollOptions.timeout)
}
