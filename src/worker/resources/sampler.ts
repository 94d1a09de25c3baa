const intervalMs = 15_000

/** Takes samples for gauges until it is closed. */
export interface Sampler {
  /** Waits for the sample in progress. Idempotent. */
  close(): Promise<void>
}

/** Takes a sample at once, and then 15 seconds after the end of each sample. A sample that fails is left out. */
export function startSampler(sample: () => Promise<void>): Sampler {
  let round: Promise<void> | undefined
  const next = (): void => {
    round ??= sample()
      .catch(() => undefined)
      .finally(() => (round = undefined))
  }
  next()
  const timer = setInterval(next, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      await round
    },
  }
}
