/*
 * Budgets: limits of the usage of a run. A run that has used its budget pauses or ends. The workflow counts the usage,
 * so a crash does not change it.
 *
 * Invariants:
 * 1. A budget is checked before each turn of the model, before each call, and before each step of code. Only the reply
 *    of a model may use more than is left: its tokens and its cost are known when it is there.
 * 2. The usage of a run never decreases. Only a larger budget lets a paused run continue.
 */

/** Maximum usage of a run. An absent amount has no bound. */
export interface BudgetAmounts {
  /** US dollars. With such a budget, a run is refused when the price of its model is unknown. */
  readonly costUsd?: number
  /** Tokens that the model reads and writes in all turns together. */
  readonly tokens?: number
  readonly turns?: number
  readonly toolCalls?: number
  /** Seconds since the run began, pauses included. */
  readonly seconds?: number
}

export interface Budget extends BudgetAmounts {
  /**
   * The action of a run that has used its budget. Default: it pauses until the budget is raised, or the run is
   * cancelled.
   */
  readonly whenSpent?: 'pause' | 'end'
}

export type BudgetItem = keyof BudgetAmounts

export const budgetItems = [
  'costUsd',
  'tokens',
  'turns',
  'toolCalls',
  'seconds',
] as const satisfies readonly BudgetItem[]

/** Argument of the update `ptc.budget`: replaces these amounts; null removes the bound. */
export type BudgetChange = { readonly [Item in BudgetItem]?: number | null }

/** Result of the update and of the query `ptc.budget`. */
export interface BudgetStatus {
  /** Absent: the run has no budget. */
  readonly budget?: Budget
  /** `costUsd` is absent when the price of the model is unknown. */
  readonly used: BudgetAmounts
  /** The item for which the run waits; null while it works. */
  readonly paused: { readonly item: BudgetItem; /** Milliseconds since 1970. */ readonly since: number } | null
}

/** Value in the memo of a run that waits for a larger budget. */
export interface BudgetPause {
  readonly item: BudgetItem
  /** The amount that is spent. Absent: the cost is unknown, because the price of a model is unknown. */
  readonly amount?: number
  /** Milliseconds since 1970. */
  readonly since: number
}

/** Describes the pause for people: `the budget of 2 US dollars is spent`. */
export function describeSpent({ item, amount }: Pick<BudgetPause, 'item' | 'amount'>): string {
  if (amount === undefined) return 'the cost is unknown, because the price of a model is'
  return `the budget of ${formatAmount(item, amount)} is spent`
}

/** Returns the first item that is spent; undefined when no item is. An unknown amount counts as spent. */
export function spentItem(budget: Budget | undefined, used: BudgetAmounts): BudgetItem | undefined {
  return budgetItems.find((item) => {
    const cap = budget?.[item]
    return cap !== undefined && (used[item] ?? Infinity) >= cap
  })
}

/** Returns a text such as `2.5 US dollars`. */
export function formatAmount(item: BudgetItem, amount: number): string {
  const rounded = item === 'costUsd' ? amount.toFixed(4).replace(/\.?0+$/, '') : String(Math.round(amount))
  const unit = budgetUnits[item]
  return `${rounded} ${rounded === '1' ? unit.replace(/s$/, '') : unit}`
}

const budgetUnits: Readonly<Record<BudgetItem, string>> = {
  costUsd: 'US dollars',
  tokens: 'tokens',
  turns: 'turns',
  toolCalls: 'tool calls',
  seconds: 'seconds',
}
