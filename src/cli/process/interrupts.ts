import { raceWithTimeLimit } from '../../common/async/abort.js'

/** The user ended the command before it was done. The message says what continues. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export interface Interrupts extends Disposable {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP: end in an orderly way. */
  readonly first: AbortSignal
  /** Aborted by the second one: end at once. */
  readonly second: AbortSignal
}

/** Milliseconds to close everything that has no running activities. */
export const closeTimeoutMs = 5_000
/** Shutdown timeout after an unexpected exit of the server or the worker, when little is left to wait for. */
export const exitedShutdownTimeoutMs = 2_000

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Handles the signals that would end the process, until it is disposed. */
export function listenForInterrupts(): Interrupts {
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

/**
 * Waits for work, up to a timeout and until the signal is aborted. A worker whose server has ended never finishes its
 * shutdown; the timer also keeps Node from exiting silently meanwhile.
 */
export async function waitAtMost(
  milliseconds: number,
  work: Promise<unknown>,
  cancelSignal: AbortSignal,
): Promise<void> {
  let limit: AbortSignal | undefined
  try {
    await raceWithTimeLimit(cancelSignal, milliseconds, (derived) => {
      limit = derived
      return work
    })
  } catch (thrown) {
    if (limit?.aborted !== true) throw thrown
  }
}
