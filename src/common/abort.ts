/** Rejects with the signal's reason when it is aborted; never resolves. */
export function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/**
 * The work's result, unless nobody wants to wait for it any more.
 *
 * @throws the signal's reason as soon as it is aborted; the work is left to itself
 */
export async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
  })
  if (signal.aborted) stop()
  // Many pieces of work share one signal: what is done is not to hang on it.
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Work under a signal of its own, which follows this one as long as the work lasts: for libraries that never take their listeners away
 * again, so that nothing hangs on a signal that lives long.
 */
export async function underOwnSignal<Result>(
  signal: AbortSignal,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController()
  const follow = (): void => own.abort(signal.reason)
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow, { once: true })
  try {
    return await work(own.signal)
  } finally {
    signal.removeEventListener('abort', follow)
  }
}
