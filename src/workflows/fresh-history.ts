import { condition, workflowInfo } from '@temporalio/workflow'
import type { Run } from './run.js'

/** Events between the first attempt at quiet and the second; then twice as many each time. */
const firstPause = 500

/** Calls that are under way when a history is to end may take so long before the run goes on in the old one for a while. */
const quietMs = 10_000

/** Beyond it a history must end: Temporal ends the run at 51,200 events or 50 MB. The program waits until all is quiet. */
const lastChance = { events: 25_000, bytes: 25_000_000 } as const

/**
 * Ends a history before it is full, and lets the run go on in a fresh one. Activities can't be carried over, so it is done when
 * none is under way: calls that have not begun wait, and those that have are waited for.
 */
export class FreshHistory {
  readonly #run: Run
  #nextAttempt: number
  #pause = firstPause
  #wasTried = false

  constructor(run: Run) {
    this.#run = run
    this.#nextAttempt = run.plan.limits.historyEvents
  }

  /** Is it time, and is everything quiet? Then calls wait until the run goes on elsewhere. */
  async isDue(): Promise<boolean> {
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo()
    if (historyLength < this.#nextAttempt && (this.#wasTried || !continueAsNewSuggested)) return false
    this.#nextAttempt = historyLength + this.#pause
    this.#pause *= 2
    this.#wasTried = true
    const { slots } = this.#run
    slots.pause()
    const isQuiet = (): boolean => slots.held === 0
    if (isQuiet()) return true
    const mustEnd = historyLength > lastChance.events || historySize > lastChance.bytes
    if (mustEnd) await condition(isQuiet)
    else await condition(isQuiet, quietMs)
    if (isQuiet()) return true
    slots.resume()
    return false
  }
}
