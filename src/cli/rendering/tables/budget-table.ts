import { budgetItems, type BudgetStatus, formatAmount } from '../../../common/budget/budget.js'
import { budgetCommand } from '../../../common/run/wait-commands.js'
import { sinceTime } from '../text/waits.js'
import { renderColumns } from './column-table.js'

/** The usage of a run next to its budget. */
export function renderBudget(run: string, { budget, used, paused }: BudgetStatus): string {
  const rows = budgetItems.map((item) => {
    const amount = used[item]
    const cap = budget?.[item]
    return [
      amount === undefined ? `unknown (${item})` : formatAmount(item, amount),
      cap === undefined ? 'no bound' : `of ${formatAmount(item, cap)}`,
      paused?.item === item ? `spent: paused ${sinceTime(paused.since)}` : isSpent(amount, cap) ? 'spent' : '',
    ]
  })
  const raise = paused ? [`Raise it: ${budgetCommand(run, paused.item)}`] : []
  return [renderColumns(rows, undefined), ...raise].join('\n')
}

function isSpent(amount: number | undefined, cap: number | undefined): boolean {
  return cap !== undefined && (amount ?? Infinity) >= cap
}
