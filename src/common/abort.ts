/** Rejects with the signal's reason when it is aborted; never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/**
 * Settles as `work` does, or rejects when the signal is aborted. The work itself is not stopped.
 *
 * @throws the signal's reason
 */
export async function raceWithSignal<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
  })
  if (signal.aborted) onAbort()
  // Many calls share one signal, so finished ones must not leave a listener on it.
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Runs `work` with a derived signal, which follows `signal` until the work settles. For libraries that leave listeners
 * on the signal they get: on a long-lived signal these would accumulate.
 */
export async function withDerivedSignal<Result>(
  signal: AbortSignal,
  work: (derived: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const derived = new AbortController()
  const onAbort = (): void => derived.abort(signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(derived.signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
