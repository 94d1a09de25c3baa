import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../common/errors.js'

const firstPauseMs = 200
const longestPauseMs = 10_000

/**
 * Does it again while the store is full or does not answer, with growing pauses.
 *
 * @param patienceMs how long; then the last error is thrown
 */
export async function withPatience<Result>(
  patienceMs: number,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = performance.now() + patienceMs
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    try {
      return await work()
    } catch (thrown) {
      signal.throwIfAborted()
      const left = end - performance.now()
      if (!mayPass(thrown) || left <= 0) throw thrown
      await delay(Math.min(left, pause), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

function mayPass(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && thrown.retryable
}
