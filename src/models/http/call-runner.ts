import { PtcError } from '../../common/errors.js'
import { type CallTimer, startCallTimer } from './call-timer.js'
import type { ProviderTimeouts } from './endpoint-options.js'

/** The calls of one provider. */
interface CallRunner {
  /**
   * Runs one call with the timeouts of the provider. Rejects with the reason of an aborted signal, or else with the
   * result of `errorOf` for the error.
   */
  run<T>(signal: AbortSignal, work: (timer: CallTimer) => Promise<T>, errorOf: (thrown: unknown) => Error): Promise<T>
  /** Aborts running calls with a retryable error, and refuses later ones. Idempotent. */
  close(): Promise<void>
}

export function createCallRunner(timeouts: ProviderTimeouts): CallRunner {
  const activeCalls = new Set<CallTimer>()
  const closedError = new PtcError('MODEL_CONNECTION', 'The model provider was closed.')
  let closed = false
  return {
    run: async (signal, work, errorOf) => {
      signal.throwIfAborted()
      if (closed) throw closedError
      const timer = startCallTimer({ signal, ...timeouts })
      activeCalls.add(timer)
      try {
        return await timer.guard(work(timer))
      } catch (thrown) {
        signal.throwIfAborted()
        timer.signal.throwIfAborted()
        throw errorOf(thrown)
      } finally {
        activeCalls.delete(timer)
        timer.stop()
      }
    },
    close: async () => {
      closed = true
      for (const timer of activeCalls) timer.abort(closedError)
    },
  }
}
