import { condition, workflowInfo } from '@temporalio/workflow'
import type { Run } from '../run.js'

/** Events between the first attempt at quiet and the second; then twice as many each time. */
const firstRetryEvents = 500

/** Calls that are under way when a history is to end may take so long before the run goes on in the old one for a while. */
const quiesceMs = 10_000

/** Beyond it a history must end: Temporal ends the run at 51,200 events or 50 MB. The program waits until all is quiet. */
const hardLimit = { events: 25_000, bytes: 25_000_000 } as const

/**
 * Ends a history before it is full, and lets the run go on in a fresh one. Activities can't be carried over, so it is done when
 * none is under way: calls that have not begun wait, and those that have are waited for.
 */
export class ContinueAsNewPolicy {
  readonly #run: Run
  #nextCheckAt: number
  #retryEvents = firstRetryEvents
  #wasAttempted = false

  constructor(run: Run) {
    this.#run = run
    this.#nextCheckAt = run.config.limits.historyEvents
  }

  /** Is it time, and is everything quiet? Then calls wait until the run goes on elsewhere. */
  async shouldContinue(): Promise<boolean> {
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo()
    if (historyLength < this.#nextCheckAt && (this.#wasAttempted || !continueAsNewSuggested)) return false
    this.#nextCheckAt = historyLength + this.#retryEvents
    this.#retryEvents *= 2
    this.#wasAttempted = true
    const { callSlots } = this.#run
    callSlots.pause()
    const isIdle = (): boolean => callSlots.acquired === 0
    if (isIdle()) return true
    const mustEnd = historyLength > hardLimit.events || historySize > hardLimit.bytes
    if (mustEnd) await condition(isIdle)
    else await condition(isIdle, quiesceMs)
    if (isIdle()) return true
    callSlots.resume()
    return false
  }
}
