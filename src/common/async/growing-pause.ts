export interface PauseLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/** Milliseconds before the next attempt: none before a failure, then each pause is twice the one before it. */
export function pauseAfter(failures: number, { firstMs, longestMs }: PauseLimits): number {
  return failures === 0 ? 0 : Math.min(firstMs * 2 ** (failures - 1), longestMs)
}
