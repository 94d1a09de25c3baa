/*
 * Uncaught errors: exceptions and rejected promises that no code handles, for example in the callback of a timer. Node
 * ends the process after such an error. Most of them come from functions of users: tools, hooks, sinks.
 *
 * Owns: the assignment of an uncaught error to work. Boundary: a worker passes the errors of its process to the work
 * that caused them (worker/uncaught-errors.ts), and provides the storage that follows asynchronous work.
 */

/** Work that uncaught errors may belong to. */
export interface Work {
  /** Name in the log, such as `tool pay`. */
  readonly name: string
  /** Removes credentials from the text of an error. */
  readonly redact?: (text: string) => string
  /** True when the work is done for many calls: then the log names no call. */
  readonly isShared?: boolean
  /** True for work of the engine: an error after its end leaves the engine in an unknown state. */
  readonly isEngine?: boolean
}

/** Work with a way to fail it. */
export interface FallibleWork extends Work {
  /** Fails the work because of an uncaught error. Returns false when the work has ended already. */
  readonly fail: (thrown: unknown) => boolean
}

/** The part of Node's `AsyncLocalStorage` that is used here. */
export interface WorkStorage {
  run<Result>(work: FallibleWork, execute: () => Result): Result
}

let storage: WorkStorage | undefined

/** Sets the storage of this process. Without a storage, uncaught errors are not assigned to work. */
export function setWorkStorage(workStorage: WorkStorage): void {
  storage = workStorage
}

/** Executes work. Uncaught errors of the work, and of everything that it starts, are assigned to the innermost work. */
export function runWork<Result>(work: FallibleWork, execute: () => Result): Result {
  return storage === undefined ? execute() : storage.run(work, execute)
}

/**
 * Executes work and returns its result. Rejects with the first uncaught error before the end of the work.
 *
 * @param toError converts the error with which the promise rejects. Must not throw. Default: the error itself
 */
export function rejectOnUncaught<Result>(
  work: Work,
  execute: () => Result | Promise<Result>,
  toError: (thrown: unknown) => unknown = (thrown) => thrown,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let hasEnded = false
    const end = <Value>(settle: (value: Value) => void, value: Value): boolean => {
      const isFirst = !hasEnded
      hasEnded = true
      settle(value)
      return isFirst
    }
    const fail = (thrown: unknown): boolean => !hasEnded && end(reject, toError(thrown))
    const running = runWork({ ...work, fail }, async () => execute())
    running.then(
      (result) => end(resolve, result),
      (thrown: unknown) => end(reject, thrown),
    )
  })
}
