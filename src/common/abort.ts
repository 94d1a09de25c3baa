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
export function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return Promise.race([work, rejectionOf(signal)])
}
