import { isTimeLimit, raceWithTimeLimit } from '../../../common/async/abort.js'

/** Thrown by {@link withTimeout} after its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * As `raceWithTimeLimit`, for requests to a daemon. After `work` has settled its signal is never aborted, so a socket
 * that it opened stays open.
 *
 * @throws TimeoutError, or the reason of `outerSignal`
 */
export async function withTimeout<T>(
  milliseconds: number,
  outerSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outerSignal?.throwIfAborted()
  try {
    return await raceWithTimeLimit(outerSignal, milliseconds, work)
  } catch (thrown) {
    outerSignal?.throwIfAborted()
    throw isTimeLimit(thrown) ? new TimeoutError(`no answer within ${milliseconds} ms`) : thrown
  }
}
