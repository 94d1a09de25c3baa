/** Resolves when the signal is aborted. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Rejects with the signal's reason when it is aborted; never resolves. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/**
 * Performs `work`, and calls `onAbort` when the signal is aborted before the work settles. Removes its listener,
 * because many calls share one signal.
 */
export async function withAbortListener<Result>(
  signal: AbortSignal | undefined,
  onAbort: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal?.aborted === true) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await work()
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Settles with the outcome of `work`, or rejects when the signal is aborted. The work itself is not stopped.
 *
 * @throws the signal's reason
 */
export function raceWithSignal<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
  })
  return withAbortListener(signal, onAbort, () => Promise.race([work, aborted]))
}

/**
 * Runs `work` with a derived signal, which follows `signal` until the work settles. For libraries that leave listeners
 * on their signal: on a long-lived signal these would accumulate.
 */
export function withDerivedSignal<Result>(
  signal: AbortSignal,
  work: (derived: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withDerivedController(signal, (controller) => work(controller.signal))
}

/**
 * Runs `work` with a derived signal that is also aborted after this number of milliseconds. Removes its timer and its
 * listener: `AbortSignal.timeout` and `AbortSignal.any` keep theirs until they abort.
 */
export function withTimeLimit<Result>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (derived: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withDerivedController(signal, async (controller) => {
    const abort = () => controller.abort(new DOMException('The time limit is over.', 'TimeoutError'))
    const timer = setTimeout(abort, milliseconds)
    try {
      return await work(controller.signal)
    } finally {
      clearTimeout(timer)
    }
  })
}

/**
 * Settles with the outcome of `work`, or rejects when the signal is aborted, or after this number of milliseconds, also
 * when the work ignores its signal.
 *
 * @throws the signal's reason; a DOMException TimeoutError
 */
export function raceWithTimeLimit<Result>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: (derived: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withTimeLimit(signal, milliseconds, (derived) => raceWithSignal(derived, work(derived)))
}

/** Whether an error is that of a time limit. */
export function isTimeLimit(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'TimeoutError'
}

function withDerivedController<Result>(
  signal: AbortSignal | undefined,
  work: (controller: AbortController) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  return withAbortListener(
    signal,
    () => controller.abort(signal?.reason),
    () => work(controller),
  )
}
