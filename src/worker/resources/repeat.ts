/** Work that is repeated until it is closed. */
export interface Repeated {
  /** Waits for the round in progress. Idempotent. */
  close(): Promise<void>
}

/**
 * Works at once, and then after each interval in which the round before has ended.
 *
 * @param work never rejects; its signal is aborted by `close`
 */
export function repeat(intervalMs: number, work: (signal: AbortSignal) => Promise<void>): Repeated {
  const closing = new AbortController()
  let round: Promise<void> | undefined
  const next = (): void => {
    round ??= work(closing.signal).finally(() => (round = undefined))
  }
  next()
  const timer = setInterval(next, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      closing.abort()
      await round
    },
  }
}
