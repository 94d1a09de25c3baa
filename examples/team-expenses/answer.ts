import { customBudgets, expensesOf, standardBudgetCents } from './data.js'
import type { Quarter } from './data.js'
import { employeesOf } from './people.js'
import type { Department } from './people.js'

/** Somebody who is over a budget. */
export interface Exceeded {
  readonly id: string
  readonly name: string
  readonly spentCents: number
  readonly budgetCents: number
}

/** The right answer, straight from the books: who spent more on approved travel and lodging than their own budget allows. */
export function whoExceeded(department: Department, quarter: Quarter): readonly Exceeded[] {
  const exceeded: Exceeded[] = []
  for (const { id, name } of employeesOf(department)) {
    let spentCents = 0
    for (const { category, status, cents } of expensesOf(id, quarter) ?? []) {
      const counts = category === 'travel' || category === 'lodging'
      if (counts && status === 'approved') spentCents += cents
    }
    const budgetCents = customBudgets.get(id)?.cents ?? standardBudgetCents
    if (spentCents > budgetCents) exceeded.push({ id, name, spentCents, budgetCents })
  }
  return exceeded
}
