/*
 * The budget of a run inside of a turn: the stage of calls that waits while the budget is spent, or refuses the call.
 *
 * Invariants:
 * 1. A call that starts has its place in the budget: concurrent calls never make more calls than the budget has.
 * 2. All calls that wait share one pause, which ends when none of them waits any more.
 * 3. Only the leases of sub-agents are missing: then a call waits for their end, which is not a pause.
 */

import { CancellationScope, condition } from '@temporalio/workflow'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { waitForBudget } from '../run/wait-for-budget.js'
import type { Run } from '../run/run.js'
import { denied } from './admission.js'
import type { AdmittedCall, Next, Stage } from './run-call.js'

export const budget: Stage = (call, next) => {
  const { run, calls } = call
  if (!run.hasBudget || calls.awaitsResult(call)) return next(call)
  return run.budget.spentInTurn === undefined
    ? startReserved(call, next, run.budget.reserveCall())
    : startWhenRaised(call, next)
}

async function startWhenRaised(call: AdmittedCall, next: Next): Promise<CallOutcome> {
  const { calls, run } = call
  call.report({ for: 'budget' })
  // The next call that wakes up must see the place of this one as taken: nothing is awaited in between.
  let release: (() => void) | undefined
  const refused = await calls.budget.waitForRest(() => (release = run.budget.reserveCall()))
  return release ? startReserved(call, next, release) : denied(refused ?? '')
}

/** @param release gives the place of the call in the budget back (invariant 1) */
async function startReserved(call: AdmittedCall, next: Next, release: () => void): Promise<CallOutcome> {
  call.onCounted = release
  try {
    return await next(call)
  } finally {
    release()
  }
}

/** The pause of the calls of one run. */
export class CallBudget {
  readonly #run: Run
  /** The scope of the whole run: the cancellation of one call does not end the pause of others. */
  readonly #scope = new CancellationScope()
  #pause: Promise<boolean> | undefined
  #waiting = 0
  #waitedMs: number
  #waitingSince = 0

  constructor(run: Run, waitedMs = 0) {
    this.#run = run
    this.#waitedMs = waitedMs
  }

  /** True while a call waits for the budget. */
  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  /** Milliseconds during which at least one call waited for the budget. */
  get waitedMs(): number {
    return this.#waitedMs + (this.isWaiting ? Date.now() - this.#waitingSince : 0)
  }

  /**
   * Waits until the budget has something left.
   *
   * @param onRest called at once when it has, before anything else can use it
   * @returns the reason when a spent budget ends the run
   * @throws CancelledFailure when the scope of the call is cancelled
   */
  async waitForRest(onRest: () => void = () => undefined): Promise<string | undefined> {
    const { budget: own } = this.#run
    if (!this.isWaiting) this.#waitingSince = Date.now()
    this.#waiting += 1
    try {
      while (own.spentInTurn !== undefined) {
        const item = own.spentWithoutLeases
        if (item === undefined) await condition(() => own.spentInTurn !== own.spentWithoutLeases) // invariant 3
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

  /** Invariant 2. */
  #sharedPause(): Promise<boolean> {
    this.#pause ??= this.#scope
      .run(() => waitForBudget(this.#run, () => this.#waiting === 0, 'spentWithoutLeases'))
      .finally(() => (this.#pause = undefined))
    return this.#pause
  }
}
