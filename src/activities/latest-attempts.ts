import { ApplicationFailure } from '@temporalio/common'
import { unlessAborted } from '../common/abort.js'

/** How long a retry waits for a later one of the same call. */
const pauseMs = 250

/** Calls that are remembered; each may be retried later, on this worker or another. */
const remembered = 10_000

/**
 * Which attempt of a call this worker was given last. A worker that stalls goes on to be given work, and Temporal gives it every
 * retry of a call whose heartbeats it misses: they would all begin at once when the stall is over, though all but the last are void.
 */
export class LatestAttempts {
  readonly #latest = new Map<string, number>()

  /**
   * To be awaited before an attempt has any effect.
   *
   * @throws ApplicationFailure when a later attempt was given to this worker meanwhile; the signal's reason
   */
  async begin(call: string, attempt: number, signal: AbortSignal): Promise<void> {
    this.#latest.delete(call)
    this.#latest.set(call, attempt)
    const [oldest] = this.#latest.keys()
    if (this.#latest.size > remembered && oldest !== undefined) this.#latest.delete(oldest)
    if (attempt === 1) return
    await unlessAborted(signal, new Promise((resolve) => setTimeout(resolve, pauseMs)))
    if ((this.#latest.get(call) ?? attempt) === attempt) return
    throw ApplicationFailure.retryable('a later attempt of this call has begun', 'SUPERSEDED')
  }
}
