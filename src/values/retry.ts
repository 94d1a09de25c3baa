import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../common/errors.js'

const initialDelayMs = 200
const maxDelayMs = 10_000

/**
 * Retries with exponential backoff while the store is full or unavailable.
 *
 * @param retryForMs afterwards, the last error is thrown
 */
export async function retryWhileUnavailable<Result>(
  retryForMs: number,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = performance.now() + retryForMs
  for (let delayMs = initialDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
    try {
      return await work()
    } catch (thrown) {
      signal.throwIfAborted()
      const remainingMs = end - performance.now()
      if (!isTransient(thrown) || remainingMs <= 0) throw thrown
      await delay(Math.min(remainingMs, delayMs), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

/** A person adds a missing key. Temporal's retries, which people can see, wait for that. */
function isTransient(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && thrown.retryable && thrown.code !== 'ENCRYPTION_KEY_UNAVAILABLE'
}
