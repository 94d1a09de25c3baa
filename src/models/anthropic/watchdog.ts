import { PtcError } from '../../common/errors.js'

export interface WatchdogOptions {
  /** The caller's own signal. */
  readonly signal: AbortSignal
  /** Milliseconds without a sign of life. */
  readonly idleTimeoutMs: number
  /** Milliseconds for everything. */
  readonly timeoutMs: number
}

/** Ends a call that the caller gave up, that fell silent, or that takes too long. */
export interface Watchdog {
  /** Aborted with the caller's own reason, or with a PtcError. */
  readonly signal: AbortSignal
  /** A sign of life. */
  readonly touch: () => void
  readonly abort: (reason: PtcError) => void
  /** Settles as `work` does, but not later than the signal is aborted: not everything below listens to signals. */
  readonly guard: <T>(work: Promise<T>) => Promise<T>
  readonly stop: () => void
}

export function startWatchdog({ signal, idleTimeoutMs, timeoutMs }: WatchdogOptions): Watchdog {
  const controller = new AbortController()
  const timedOut = (what: string) =>
    new PtcError('MODEL_TIMEOUT', what, { hint: 'Usually passes by itself; the call is tried again.' })
  const idle = setTimeout(() => {
    controller.abort(timedOut(`The model API said nothing for ${idleTimeoutMs} ms.`))
  }, idleTimeoutMs)
  const total = setTimeout(() => {
    controller.abort(timedOut(`The model's reply was not complete after ${timeoutMs} ms.`))
  }, timeoutMs)
  const follow = () => {
    controller.abort(signal.reason)
  }
  signal.addEventListener('abort', follow, { once: true })
  if (signal.aborted) follow()

  return {
    signal: controller.signal,
    touch: () => {
      idle.refresh()
    },
    abort: (reason) => {
      controller.abort(reason)
    },
    guard: (work) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          reject(controller.signal.reason)
        }
        if (controller.signal.aborted) stop()
        else controller.signal.addEventListener('abort', stop, { once: true })
        work.then(resolve, reject)
      }),
    stop: () => {
      clearTimeout(idle)
      clearTimeout(total)
      signal.removeEventListener('abort', follow)
    },
  }
}
