import { customBudgets, expensesOf, standardBudgetCents } from './data.js'
import type { Quarter } from './data.js'
import { employeesOf } from './people.js'
import type { Department } from './people.js'

/** An employee over the budget. */
export interface BudgetOverrun {
  readonly id: string
  readonly name: string
  readonly spentCents: number
  readonly budgetCents: number
}

/** Computes the correct answer from the data: employees whose approved travel and lodging exceeds their budget. */
export function budgetOverruns(department: Department, quarter: Quarter): readonly BudgetOverrun[] {
  const overruns: BudgetOverrun[] = []
  for (const { id, name } of employeesOf(department)) {
    let spentCents = 0
    for (const { category, status, cents } of expensesOf(id, quarter) ?? []) {
      const counts = category === 'travel' || category === 'lodging'
      if (counts && status === 'approved') spentCents += cents
    }
    const budgetCents = customBudgets.get(id)?.cents ?? standardBudgetCents
    if (spentCents > budgetCents) overruns.push({ id, name, spentCents, budgetCents })
  }
  return overruns
}
