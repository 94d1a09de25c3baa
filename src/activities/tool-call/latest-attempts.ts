import { ApplicationFailure } from '@temporalio/common'
import { raceWithSignal } from '../../common/async/abort.js'
import type { ErrorCode } from '../../common/errors.js'

const superseded: ErrorCode = 'ATTEMPT_SUPERSEDED'

/** Milliseconds that a retry waits for a later retry of the same call. */
const supersedeDelayMs = 250

/** Maximum number of remembered calls. Any of them may be retried later, on this worker or another. */
const maxRemembered = 10_000

/**
 * Lets only the latest attempt of a call start. While a worker is stalled, the server times out its attempts and sends
 * it every retry. Without this check, all of them would start after the stall, although only the latest one counts.
 */
export class LatestAttempts {
  readonly #latest = new Map<string, number>()

  /**
   * Must be awaited before an attempt has any effect.
   *
   * @throws ApplicationFailure when this worker got a later attempt meanwhile; the signal's reason
   */
  async claim(call: string, attempt: number, signal: AbortSignal): Promise<void> {
    this.#latest.delete(call)
    this.#latest.set(call, attempt)
    const [oldest] = this.#latest.keys()
    if (this.#latest.size > maxRemembered && oldest !== undefined) this.#latest.delete(oldest)
    if (attempt === 1) return
    await raceWithSignal(signal, new Promise((resolve) => setTimeout(resolve, supersedeDelayMs)))
    if ((this.#latest.get(call) ?? attempt) === attempt) return
    // This is not a PtcError, because it must be retryable even in the last attempt.
    throw ApplicationFailure.retryable('a later attempt of this call has begun', superseded)
  }
}
