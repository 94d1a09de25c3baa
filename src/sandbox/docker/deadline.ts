/** Thrown by {@link withDeadline} when the time is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

/**
 * Runs `work` for at most `milliseconds`, or until `outer` is aborted. `work` gets a signal that says so, and is left
 * behind even if it ignores it. Once `work` is done its signal never fires: a socket it made stays open.
 *
 * @throws DeadlineError, or the reason of `outer`
 */
export async function withDeadline<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const controller = new AbortController()
  let giveUp: (reason: unknown) => void = () => {}
  const cut = new Promise<never>((_resolve, reject) => {
    giveUp = (reason) => {
      reject(reason)
      controller.abort(reason)
    }
  })
  const onAbort = (): void => giveUp(outer?.reason)
  outer?.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => giveUp(new DeadlineError(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([work(controller.signal), cut])
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', onAbort)
  }
}
