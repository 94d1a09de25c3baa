import { type ApplicationFailure, condition, defineQuery, defineUpdate, setHandler } from '@temporalio/workflow'
import {
  type Budget,
  type BudgetAmounts,
  type BudgetChange,
  type BudgetItem,
  type BudgetPause,
  budgetItems,
  type BudgetStatus,
  describeSpent,
  spentItem,
} from '../../common/budget/budget.js'
import { usedAmounts } from '../../common/budget/leases.js'
import { defined } from '../../common/defined.js'
import { budgetMessage } from '../../common/names.js'
import { addLeases, decideLease } from '../../common/budget/leases.js'
import type { RunCounts } from '../../common/run/runs.js'
import { failWorkflowOnError, rejection } from '../temporal/failures.js'

export interface RunBudgetState {
  readonly startedAt: number
  /** The current budget. It differs from the configured one after it was raised. */
  readonly budget?: Budget
  /**
   * Maps the key of a lease to its amounts, while the usage of the sub-agent is not known. Undefined: there are none.
   */
  readonly leases?: Readonly<Record<string, BudgetAmounts>>
}

type LeaseResult =
  | { readonly status: 'leased'; readonly amounts: BudgetAmounts }
  | { readonly status: 'refused'; readonly reason: string }

/** The items of a budget that a wait is about. */
export type BudgetScope = 'spent' | 'spentWithoutLeases'

/** The budget of a run, and what the run waits for when it is spent. */
export class RunBudget {
  readonly #counts: () => RunCounts
  readonly #startedAt: number
  #budget: Budget | undefined
  #paused: BudgetStatus['paused'] = null
  /** Maps the key of each open lease to its amounts, which count as used. */
  readonly #leases: Map<string, BudgetAmounts>
  /** Calls that start, and are not counted yet. */
  #reservedCalls = 0

  constructor(counts: () => RunCounts, budget: Budget | undefined, state?: RunBudgetState) {
    this.#counts = counts
    this.#startedAt = state?.startedAt ?? Date.now()
    this.#budget = state?.budget ?? budget
    this.#leases = new Map(Object.entries(state?.leases ?? {}))
  }

  get state(): RunBudgetState | undefined {
    const leases = this.#leases.size > 0 && { leases: Object.fromEntries(this.#leases) }
    return this.#budget && { startedAt: this.#startedAt, budget: this.#budget, ...leases }
  }

  get status(): BudgetStatus {
    // After a raise the waiting run has not noticed it yet; another item may be spent.
    const { spent } = this
    const paused = spent === undefined || !this.#paused ? null : { ...this.#paused, item: spent }
    return { ...defined({ budget: this.#budget }), used: this.#used, paused }
  }

  /** The item of the budget that is spent; undefined while every item has something left. */
  get spent(): BudgetItem | undefined {
    return spentItem(this.#budget, this.#used)
  }

  /** The item that a call needs, and that is spent or leased. A turn that has begun needs no other turn. */
  get spentInTurn(): BudgetItem | undefined {
    return spentItem(this.#budgetOfCalls, this.#used)
  }

  /** Like {@link spentInTurn}, without what sub-agents may still give back. */
  get spentWithoutLeases(): BudgetItem | undefined {
    return spentItem(this.#budgetOfCalls, this.#usedWithoutLeases)
  }

  /** How many calls the run may make without another check. */
  get callsLeft(): number {
    const { toolCalls: cap = Infinity } = this.#budget ?? {}
    return this.spentInTurn === undefined ? cap - (this.#used.toolCalls ?? 0) : 0
  }

  /** Counts a call as used until it is counted by the run, or has ended before: then the returned function is called. */
  reserveCall(): () => void {
    this.#reservedCalls += 1
    let isReserved = true
    return () => {
      if (isReserved) this.#reservedCalls -= 1
      isReserved = false
    }
  }

  get pauses(): boolean {
    return this.#budget?.whenSpent !== 'end'
  }

  /**
   * What the run waits for from now on.
   *
   * @param last what it has waited for until now
   */
  pauseAt(item: BudgetItem, last?: BudgetPause): BudgetPause {
    return { item, ...this.#spentAmount(item), since: last?.item === item ? last.since : Date.now() }
  }

  /** Describes the pause for people: `the budget of 2 US dollars is spent`. */
  describe(item: BudgetItem): string {
    return describeSpent({ item, ...this.#spentAmount(item) })
  }

  /**
   * Reserves a part of the budget for a sub-agent.
   *
   * @param own the budget in the configuration of the sub-agent
   */
  lease(key: string, own: BudgetAmounts | undefined): LeaseResult {
    if (!this.#budget) return { status: 'leased', amounts: {} }
    const decision = decideLease(this.#budget, this.#used, own)
    if (decision.status === 'spent') return { status: 'refused', reason: this.describe(decision.item) }
    this.#leases.set(key, decision.amounts)
    return decision
  }

  /** Removes the lease of a sub-agent: its usage is counted now, or the sub-agent did not start. */
  closeLease(key: string): void {
    this.#leases.delete(key)
  }

  /**
   * Waits until the item is no longer what the run waits for, or its amount is another one: the budget was changed.
   *
   * @param isOver a second condition that ends the wait
   */
  async waitUntilRaised({ item, since }: BudgetPause, isOver: () => boolean, scope: BudgetScope): Promise<void> {
    this.#paused = { item, since }
    const amount = this.#budget?.[item]
    try {
      await condition(() => this[scope] !== item || this.#budget?.[item] !== amount || isOver())
    } finally {
      this.#paused = null
    }
  }

  validate(amounts: BudgetChange): void {
    const names: readonly string[] = budgetItems
    for (const [name, amount] of Object.entries(amounts ?? {})) {
      if (!names.includes(name)) throw invalid(`a budget has no ${name}`)
      if (amount !== null && (typeof amount !== 'number' || !(amount > 0)))
        throw invalid(`${name} must be a number above 0`)
    }
    if (typeof amounts?.costUsd === 'number' && this.#counts().costUsd === null)
      throw invalid('the cost so far is unknown, because the price of a model is')
  }

  set(amounts: BudgetChange): BudgetStatus {
    const merged = { ...this.#budget, ...amounts }
    this.#budget = Object.fromEntries(Object.entries(merged).filter(([, amount]) => amount !== null))
    return this.status
  }

  #spentAmount(item: BudgetItem): Pick<BudgetPause, 'amount'> {
    return this.#used[item] === undefined ? {} : { amount: this.#budget?.[item] ?? 0 }
  }

  get #used(): BudgetAmounts {
    return addLeases(this.#usedWithoutLeases, this.#leases.values())
  }

  get #usedWithoutLeases(): BudgetAmounts {
    const used = usedAmounts(this.#counts(), Date.now() - this.#startedAt)
    return this.#reservedCalls === 0 ? used : { ...used, toolCalls: (used.toolCalls ?? 0) + this.#reservedCalls }
  }

  get #budgetOfCalls(): Budget | undefined {
    if (this.#budget?.turns === undefined) return this.#budget
    const { turns: _, ...others } = this.#budget
    return others
  }
}

const budgetUpdate = defineUpdate<BudgetStatus, [BudgetChange]>(budgetMessage)
const budgetQuery = defineQuery<BudgetStatus>(budgetMessage)

/**
 * Handles the update that raises the budget of a run, and the query for it.
 *
 * @param isLeased the parent of the run has reserved its budget, so it can't be raised here
 */
export function handleBudget(budget: RunBudget, isLeased = false): void {
  setHandler(budgetUpdate, (amounts) => failWorkflowOnError(async () => budget.set(amounts)), {
    validator: (amounts) => {
      if (isLeased) throw invalid('the budget of a sub-agent is a part of the budget of its parent')
      budget.validate(amounts)
    },
  })
  setHandler(budgetQuery, () => budget.status)
}

function invalid(message: string): ApplicationFailure {
  return rejection('RUN_INPUT_INVALID', message)
}
