/** Thrown by {@link withTimeout} after its timeout. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Runs `work` for at most `milliseconds`, or until `outerSignal` is aborted. `work` gets a signal that is aborted in
 * both cases; the returned promise settles then even if `work` ignores the signal. After `work` has settled its signal
 * is never aborted, so a socket that it opened stays open.
 *
 * @throws TimeoutError, or the reason of `outerSignal`
 */
export async function withTimeout<T>(
  milliseconds: number,
  outerSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outerSignal?.throwIfAborted()
  const controller = new AbortController()
  let abandon: (reason: unknown) => void = () => {}
  const abandoned = new Promise<never>((_resolve, reject) => {
    abandon = (reason) => {
      reject(reason)
      controller.abort(reason)
    }
  })
  const onAbort = (): void => abandon(outerSignal?.reason)
  outerSignal?.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => abandon(new TimeoutError(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([work(controller.signal), abandoned])
  } finally {
    clearTimeout(timer)
    outerSignal?.removeEventListener('abort', onAbort)
  }
}
