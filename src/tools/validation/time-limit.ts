import { createContext, Script } from 'node:vm'

/** Maximum milliseconds of processor time for the check of one value by a schema. */
export const maxCheckMs = 200

/** Factor for the limit of a second attempt, after one in which other processes had the processor most of the time. */
const busyFactor = 5

let work: (() => void) | undefined
let interrupted = 0
const script = new Script('run()')
const context = createContext({ run: () => work?.() })

/**
 * Runs a function that has no effects, and interrupts it after a time. The time of a check is the product of schema and
 * value, and a regular expression may take hours: both may be hostile, and no other code of this thread runs meanwhile.
 * The limit holds until the function returns; for an asynchronous function, until its first `await`.
 *
 * @throws TimeLimitError, and what the function throws
 */
export function interruptAfter<Result>(run: () => Result, limitMs = maxCheckMs): Result {
  const outer = work
  const results: Result[] = []
  try {
    for (const timeout of [limitMs, limitMs * busyFactor]) {
      const startedAt = process.cpuUsage()
      try {
        work = () => void results.push(run())
        script.runInContext(context, { timeout })
        return results[0] as Result
      } catch (thrown) {
        if (!isTimeout(thrown)) throw thrown
        const { user, system } = process.cpuUsage(startedAt)
        if ((user + system) / 1_000 > timeout / 2) break
      }
    }
    interrupted += 1
    throw new TimeLimitError(limitMs)
  } finally {
    work = outer
  }
}

/** Number of interrupted checks of this thread. */
export function countInterruptedChecks(): number {
  return interrupted
}

export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'

  constructor(limitMs: number) {
    super(`the check took more than ${limitMs} ms; a smaller or simpler value takes less`)
  }
}

/** Whether the error is a timeout. It belongs to the other context, so it is not an instance of Error. */
function isTimeout(thrown: unknown): boolean {
  return (
    typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
