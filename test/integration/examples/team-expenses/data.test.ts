import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { budgetOverruns } from '../../../../examples/team-expenses/expected-answer.js'
import { customBudgets, expensesOf, standardBudgetCents } from '../../../../examples/team-expenses/data.js'
import { expenseKinds } from '../../../../examples/team-expenses/expense-kinds.js'
import { employeesOf } from '../../../../examples/team-expenses/people.js'

const departments = ['engineering', 'sales', 'marketing'] as const
const quarters = ['Q1', 'Q2', 'Q3', 'Q4'] as const
const everybody = departments.flatMap((department) => employeesOf(department))
const books = everybody.flatMap(({ id }) =>
  quarters.map((quarter) => ({ id, quarter, lines: expensesOf(id, quarter) ?? [] })),
)
const allLines = books.flatMap(({ lines }) => lines)

/** Cents by status and category in Q3, computed independently of answer.ts. */
function spentInQ3(id: string): number {
  const totals = new Map<string, number>()
  for (const line of expensesOf(id, 'Q3') ?? []) {
    const key = `${line.status} ${line.category}`
    totals.set(key, (totals.get(key) ?? 0) + line.cents)
  }
  return (totals.get('approved travel') ?? 0) + (totals.get('approved lodging') ?? 0)
}

describe('the expense data', () => {
  it('the expense data have 8 people in engineering, 6 in sales and 5 in marketing', () => {
    expect(departments.map((department) => employeesOf(department).length)).toEqual([8, 6, 5])
    expect(new Set(everybody.map(({ id }) => id)).size).toBe(19)
    expect(expensesOf('ENG009', 'Q3')).toBeUndefined()
  })

  it('the expense data have 20 to 50 lines for each person and quarter, by date and within the quarter', () => {
    for (const { quarter, lines } of books) {
      expect(lines.length).toBeGreaterThanOrEqual(20)
      expect(lines.length).toBeLessThanOrEqual(50)
      const dates = lines.map(({ date }) => date)
      expect(dates).toEqual(dates.toSorted())
      for (const date of dates) expect(`Q${Math.ceil(Number(date.slice(5, 7)) / 3)}`).toBe(quarter)
    }
    expect(new Set(allLines.map(({ expense_id }) => expense_id)).size).toBe(allLines.length)
  })

  it('the expense data have 23 kinds of expenses in 8 categories, and each of them occurs', () => {
    expect(new Set(expenseKinds.map(({ description }) => description)).size).toBe(23)
    expect(new Set(expenseKinds.map(({ category }) => category)).size).toBe(8)
    expect(new Set(allLines.map(({ description }) => description)).size).toBe(23)
  })

  it('the expense data have 85 % approved, 10 % pending and 5 % rejected lines', () => {
    const share = (status: string) => (100 * allLines.filter((line) => line.status === status).length) / allLines.length
    expect(Math.abs(share('approved') - 85)).toBeLessThan(2)
    expect(Math.abs(share('pending') - 10)).toBeLessThan(2)
    expect(Math.abs(share('rejected') - 5)).toBeLessThan(2)
  })

  it('the expense data have only whole cents', () => {
    expect(allLines.every(({ cents }) => Number.isInteger(cents) && cents > 0)).toBe(true)
  })

  it('the expense data are the same on all machines and in all processes', () => {
    const digest = createHash('sha256')
      .update(JSON.stringify([everybody, books]))
      .digest('hex')
    expect(digest).toBe('1a4d0fdf93d90082ef98191f3f3637c2a7e984af43d298fff2f22a46149754cd')
  })
})

describe('the answer', () => {
  const spent = employeesOf('engineering').map(({ id }) => ({ id, cents: spentInQ3(id) }))

  it('the answer of the example has these three people, with amounts to the cent', () => {
    expect(budgetOverruns('engineering', 'Q3')).toEqual([
      { id: 'ENG001', name: 'Amara Okafor', spentCents: 590_733, budgetCents: 500_000 },
      { id: 'ENG003', name: 'Chiara Rossi', spentCents: 616_796, budgetCents: 500_000 },
      { id: 'ENG007', name: 'Grace Mwangi', spentCents: 542_790, budgetCents: 500_000 },
    ])
    expect(spentInQ3('ENG003')).toBe(616_796)
  })

  it('the answer of the example depends on budget exceptions: two people exceed only the standard budget', () => {
    const saved = spent.filter(
      ({ id, cents }) => cents > standardBudgetCents && cents <= (customBudgets.get(id)?.cents ?? 0),
    )
    expect(saved.map(({ id }) => id)).toEqual(['ENG002', 'ENG004'])
  })

  it('the answer of the example depends on lodging and status: each of the three sums differs', () => {
    for (const { id, spentCents } of budgetOverruns('engineering', 'Q3')) {
      const lines = (expensesOf(id, 'Q3') ?? []).filter(({ category }) => ['travel', 'lodging'].includes(category))
      const sum = (some: typeof lines) => some.reduce((total, { cents }) => total + cents, 0)
      expect(sum(lines)).toBeGreaterThan(spentCents)
      expect(sum(lines.filter(({ category, status }) => category === 'travel' && status === 'approved'))).toBeLessThan(
        spentCents,
      )
    }
  })

  it('the answer of the example does not depend on rounding: no total is within 50 euros of its budget', () => {
    for (const { id, cents } of spent) {
      for (const line of [standardBudgetCents, customBudgets.get(id)?.cents ?? standardBudgetCents]) {
        expect(Math.abs(cents - line)).toBeGreaterThan(50_00)
      }
    }
  })
})
