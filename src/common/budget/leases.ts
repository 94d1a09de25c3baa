/*
 * Leases: the part of its budget that a run gives to a sub-agent.
 *
 * Invariants:
 * 1. The leases of sub-agents that run at the same time, and the usage of the run, are together at most its budget.
 * 2. If a sub-agent has no bound for an amount, it gets half of the rest. So sub-agents that start later get something,
 *    and so does the run for its next turn.
 * 3. Seconds are not divided: they pass for all at the same time.
 */

import { type BudgetAmounts, type BudgetItem, budgetItems } from './budget.js'
import { addUsage, promptTokens, type RunCounts, type SubagentCounts } from '../run/runs.js'

export type LeaseDecision =
  | { readonly status: 'leased'; readonly amounts: BudgetAmounts }
  | { readonly status: 'spent'; readonly item: BudgetItem }

/**
 * Returns the lease for a sub-agent that starts now.
 *
 * @param budget budget of the run
 * @param used usage of the run, with the open leases. An unknown amount counts as spent
 * @param own the budget in the configuration of the agent
 */
export function decideLease(budget: BudgetAmounts, used: BudgetAmounts, own: BudgetAmounts = {}): LeaseDecision {
  const amounts: { [Item in BudgetItem]?: number } = {}
  for (const item of budgetItems) {
    const cap = budget[item]
    if (cap === undefined) continue
    const left = cap - (used[item] ?? Infinity)
    if (left <= 0) return { status: 'spent', item }
    amounts[item] = Math.min(left, own[item] ?? shareOf(item, left))
  }
  return { status: 'leased', amounts }
}

function shareOf(item: BudgetItem, left: number): number {
  switch (item) {
    case 'seconds':
      return left
    case 'costUsd':
      return left / 2
    case 'tokens':
    case 'turns':
    case 'toolCalls':
      return Math.ceil(left / 2)
  }
}

/** Adds the amounts of open leases to the usage. */
export function addLeases(used: BudgetAmounts, leases: Iterable<BudgetAmounts>): BudgetAmounts {
  const sum: { [Item in BudgetItem]?: number } = { ...used }
  for (const lease of leases) {
    for (const item of budgetItems) {
      const amount = sum[item]
      if (amount !== undefined && item !== 'seconds') sum[item] = amount + (lease[item] ?? 0)
    }
  }
  return sum
}

/**
 * Returns the budget of a sub-agent: its configured budget within the lease. The budget can't be raised, so the
 * sub-agent ends when it is spent.
 */
export function budgetWithin(own: BudgetAmounts, lease: BudgetAmounts): BudgetAmounts & { readonly whenSpent: 'end' } {
  const amounts: { [Item in BudgetItem]?: number } = {}
  for (const item of budgetItems) {
    const amount = Math.min(own[item] ?? Infinity, lease[item] ?? Infinity)
    if (amount !== Infinity) amounts[item] = amount
  }
  return { ...amounts, whenSpent: 'end' }
}

/** Returns the counts of a run after a sub-agent has ended with the given counts. */
export function addSubagentCounts(counts: RunCounts, child: RunCounts): RunCounts {
  const { runs, turns, cells, toolCalls } = counts.subagents ?? noSubagents
  const below = child.subagents ?? noSubagents
  return {
    ...counts,
    usage: addUsage(counts.usage, child.usage),
    costUsd: counts.costUsd === null || child.costUsd === null ? null : counts.costUsd + child.costUsd,
    subagents: {
      runs: runs + 1 + below.runs,
      turns: turns + child.turns + below.turns,
      cells: cells + child.cells + below.cells,
      toolCalls: toolCalls + child.toolCalls + below.toolCalls,
    },
  }
}

const noSubagents: SubagentCounts = { runs: 0, turns: 0, cells: 0, toolCalls: 0 }

/** Returns the usage of a run and its sub-agents. */
export function usedAmounts(
  { costUsd, usage, turns, toolCalls, subagents }: RunCounts,
  elapsedMs: number,
): BudgetAmounts {
  return {
    ...(costUsd !== null && { costUsd }),
    tokens: promptTokens(usage) + usage.outputTokens,
    turns: turns + (subagents?.turns ?? 0),
    toolCalls: toolCalls + (subagents?.toolCalls ?? 0),
    seconds: elapsedMs / 1_000,
  }
}
