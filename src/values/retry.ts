import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, PtcError } from '../common/errors.js'

const initialDelayMs = 200
const maxDelayMs = 10_000

/**
 * Retries with exponential backoff while the store is full or unavailable.
 *
 * @param retryForMs milliseconds after which the last error is thrown
 * @param onWait called with the error before each wait, and with undefined when the work is over
 */
export async function retryWhileUnavailable<Result>(
  retryForMs: number,
  signal: AbortSignal,
  work: () => Promise<Result>,
  onWait: (reason: string | undefined) => void = () => undefined,
): Promise<Result> {
  const end = performance.now() + retryForMs
  let hasWaited = false
  const attempt = async (): Promise<Result> => {
    const result = await work()
    if (hasWaited) onWait(undefined)
    return result
  }
  for (let delayMs = initialDelayMs; ; delayMs = Math.min(2 * delayMs, maxDelayMs)) {
    try {
      return await attempt()
    } catch (thrown) {
      signal.throwIfAborted()
      const remainingMs = end - performance.now()
      if (!isTransient(thrown) || remainingMs <= 0) throw thrown
      hasWaited = true
      onWait(messageOf(thrown))
      await delay(Math.min(remainingMs, delayMs), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

/**
 * Returns whether the error may pass by itself. A missing key does not count: a person must add it, and people can see
 * Temporal's retries.
 */
function isTransient(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && thrown.retryable && thrown.code !== 'ENCRYPTION_KEY_UNAVAILABLE'
}
