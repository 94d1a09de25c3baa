/** The user ended the command before it was done. The message says what goes on without it, if anything does. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export interface Interrupts extends Disposable {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP: come to an end. */
  readonly first: AbortSignal
  /** Aborted by the second: end at once. */
  readonly second: AbortSignal
}

/** A worker gives what is under way ten seconds to end; some more for the rest. */
export const endMs = 15_000
/** When the server is gone, or the worker has failed, there is nothing to wait for. */
export const lostMs = 2_000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Takes the signals that end a process, until disposed of. */
export function catchInterrupts(): Interrupts {
  const first = new AbortController()
  const second = new AbortController()
  const onSignal = (): void => {
    const next = first.signal.aborted ? second : first
    next.abort(new Interrupted('interrupted'))
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    first: first.signal,
    second: second.signal,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/**
 * Waits for something to come to its end, but not for ever: a worker whose server is gone never says that it has ended, and
 * with nothing else to wait for Node would leave without a word.
 */
export async function endWithin(milliseconds: number, end: Promise<unknown>, atOnce: AbortSignal): Promise<void> {
  const { promise, timer } = timeout(milliseconds)
  try {
    await Promise.race([end, promise, aborted(atOnce)])
  } finally {
    clearTimeout(timer)
  }
}

function timeout(milliseconds: number): { readonly promise: Promise<void>; readonly timer: NodeJS.Timeout } {
  let settle = (): void => undefined
  const promise = new Promise<void>((resolve) => (settle = resolve))
  return { promise, timer: setTimeout(settle, milliseconds) }
}
