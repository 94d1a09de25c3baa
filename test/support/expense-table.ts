/** One line of the team-expense example's output. */
export interface ExpenseRow {
  readonly id: string
  readonly name: string
  readonly spentCents: number
  readonly budgetCents: number
}

/** People and cents of the table that the team-expense programs print. */
export function parseExpenseTable(output: string): ExpenseRow[] {
  return [...output.matchAll(/^(\w{3}\d{3}) {2}(.+?) +(\d+)\.(\d\d) EUR of (\d+)\.(\d\d)$/gm)].map(
    ([, id = '', name = '', euros, cents, budget, budgetRest]) => ({
      id,
      name,
      spentCents: Number(`${euros}${cents}`),
      budgetCents: Number(`${budget}${budgetRest}`),
    }),
  )
}
