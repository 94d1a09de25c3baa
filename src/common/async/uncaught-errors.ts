/*
 * Uncaught errors: exceptions and rejected promises that nobody handles, such as one in the callback of a timer. Node
 * ends the process for one. Most are of functions of users: tools, hooks, sinks.
 *
 * Owns: which work an uncaught error belongs to. Boundary: a worker passes the errors of its process to the work that
 * caused them (worker/uncaught-errors.ts), and provides the storage that follows asynchronous work.
 */

/** Work that uncaught errors may belong to. */
export interface Work {
  /** For the log: `tool pay`. */
  readonly name: string
  /** Removes credentials from the text of an error. */
  readonly redact?: (text: string) => string
  /** The work is done for many calls: none of them is named. */
  readonly isShared?: boolean
  /** An error after the end of the work leaves the engine in an unknown state. */
  readonly isEngine?: boolean
}

/** Work with a way to fail it. */
export interface FallibleWork extends Work {
  /** Fails the work because of an uncaught error. False: the work has ended already. */
  readonly fail: (thrown: unknown) => boolean
}

/** The part of Node's `AsyncLocalStorage` that is used here. */
export interface WorkStorage {
  run<Result>(work: FallibleWork, execute: () => Result): Result
}

let storage: WorkStorage | undefined

/** Sets the storage of this process. Without one, uncaught errors belong to nothing. */
export function setWorkStorage(workStorage: WorkStorage): void {
  storage = workStorage
}

/** Executes work to which its uncaught errors belong, and those of what it starts. The innermost work has them. */
export function runWork<Result>(work: FallibleWork, execute: () => Result): Result {
  return storage === undefined ? execute() : storage.run(work, execute)
}

/**
 * The result of work, which rejects with the first uncaught error of the work, if one comes before its end.
 *
 * @param toError what the promise rejects with. Must not throw. Default: the error itself
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
