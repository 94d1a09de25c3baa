/*
 * The waits for the budget inside of a turn: of calls, and of steps of code.
 *
 * Invariants:
 * 1. All waits share one pause, which ends when nothing waits any more.
 * 2. Only the leases of sub-agents are missing: then the wait ends with a lease, and is not a pause.
 */

import { CancellationScope, condition } from '@temporalio/workflow'
import type { Run } from './run.js'
import { waitForBudget } from './wait-for-budget.js'

/** The waits of one run. */
export class BudgetWaits {
  readonly #run: Run
  /** The scope of the whole run: the cancellation of one wait does not end the pause of others. */
  readonly #scope = new CancellationScope()
  #pause: Promise<boolean> | undefined
  #waiting = 0
  #waitedMs: number
  #waitingSince = 0

  constructor(run: Run, waitedMs = 0) {
    this.#run = run
    this.#waitedMs = waitedMs
  }

  /** True while something waits for the budget. */
  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  /** Milliseconds during which something waited for the budget. */
  get waitedMs(): number {
    return this.#waitedMs + (this.isWaiting ? Date.now() - this.#waitingSince : 0)
  }

  /**
   * Waits until the budget has something left.
   *
   * @param onRest called at once when it has, before anything else can use it
   * @returns the reason when a spent budget ends the run
   * @throws CancelledFailure when the scope of the wait is cancelled
   */
  async waitForRest(onRest: () => void = () => undefined): Promise<string | undefined> {
    const { budget: own } = this.#run
    if (!this.isWaiting) this.#waitingSince = Date.now()
    this.#waiting += 1
    try {
      while (own.spentInTurn !== undefined) {
        const item = own.spentWithoutLeases
        if (item === undefined) await condition(() => own.spentInTurn !== own.spentWithoutLeases) // invariant 2
        else if (!own.pauses) return own.describe(item)
        else await Promise.race([this.#sharedPause(), CancellationScope.current().cancelRequested])
      }
      onRest()
      return undefined
    } finally {
      if (this.#waiting === 1) this.#waitedMs = this.waitedMs
      this.#waiting -= 1
    }
  }

  /** Invariant 1. */
  #sharedPause(): Promise<boolean> {
    this.#pause ??= this.#scope
      .run(() => waitForBudget(this.#run, () => this.#waiting === 0, 'spentWithoutLeases'))
      .finally(() => (this.#pause = undefined))
    return this.#pause
  }
}
