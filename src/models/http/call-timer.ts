import { raceWithSignal } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { formatDuration } from '../../common/text/format.js'

interface CallTimerOptions {
  /** The caller's signal. */
  readonly signal: AbortSignal
  /** Maximum milliseconds without data. */
  readonly idleTimeoutMs: number
  /** Maximum milliseconds of the whole call. */
  readonly timeoutMs: number
}

/** Aborts a call on cancellation, idle timeout or total timeout. */
export interface CallTimer {
  /** Aborted with the caller's reason, or with a PtcError. */
  readonly signal: AbortSignal
  /** Restarts the idle timeout. */
  readonly onActivity: () => void
  readonly abort: (reason: PtcError) => void
  /** Settles as `work` does, or rejects when the signal is aborted, because not all code below obeys the signal. */
  readonly guard: <T>(work: Promise<T>) => Promise<T>
  readonly stop: () => void
}

export function startCallTimer({ signal, idleTimeoutMs, timeoutMs }: CallTimerOptions): CallTimer {
  const controller = new AbortController()
  const timedOut = (what: string) =>
    new PtcError('MODEL_TIMEOUT', what, { hint: 'Usually passes by itself; the call is tried again.' })
  const idle = setTimeout(() => {
    controller.abort(timedOut(`The model API sent no data for ${formatDuration(idleTimeoutMs)} (model.idleTimeout).`))
  }, idleTimeoutMs)
  const total = setTimeout(() => {
    controller.abort(
      timedOut(`The model's reply was not complete after ${formatDuration(timeoutMs)} (timeouts.model).`),
    )
  }, timeoutMs)
  const onCallerAbort = () => {
    controller.abort(signal.reason)
  }
  signal.addEventListener('abort', onCallerAbort, { once: true })
  if (signal.aborted) onCallerAbort()

  return {
    signal: controller.signal,
    onActivity: () => {
      idle.refresh()
    },
    abort: (reason) => {
      controller.abort(reason)
    },
    guard: (work) => raceWithSignal(controller.signal, work),
    stop: () => {
      clearTimeout(idle)
      clearTimeout(total)
      signal.removeEventListener('abort', onCallerAbort)
    },
  }
}
