import { budgetItems, type BudgetStatus, formatAmount } from '../../../common/runs/budget.js'
import { renderColumns } from './column-table.js'

/** What a run has used, beside its budget. */
export function renderBudget({ budget, used, paused }: BudgetStatus): string {
  const rows = budgetItems.map((item) => {
    const amount = used[item]
    const cap = budget?.[item]
    return [
      amount === undefined ? `unknown (${item})` : formatAmount(item, amount),
      cap === undefined ? 'no bound' : `of ${formatAmount(item, cap)}`,
      paused?.item === item ? `spent: paused since ${new Date(paused.since).toISOString()}` : '',
    ]
  })
  return renderColumns(rows, undefined)
}
