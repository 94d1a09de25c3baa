import { expenseKinds } from './expense-kinds.js'
import type { Category, ExpenseKind } from './expense-kinds.js'
import { travelShare } from './people.js'
import { seededRandom } from './seeded-random.js'

export type Quarter = 'Q1' | 'Q2' | 'Q3' | 'Q4'
export type Status = 'approved' | 'pending' | 'rejected'

/** One expense line, in cents. */
export interface Expense {
  readonly expense_id: string
  readonly date: string
  readonly category: Category
  readonly description: string
  readonly cents: number
  readonly currency: 'EUR'
  readonly status: Status
  readonly receipt_url: string
  readonly approved_by: string | null
  readonly store_name: string
  readonly store_location: string
  readonly reimbursement_date: string | null
  readonly payment_method: string
  readonly project_code: string
  readonly notes: string | null
}

/** Travel budget per quarter, in cents, for approved travel and lodging. */
export const standardBudgetCents = 5_000_00

/** Exceptions from {@link standardBudgetCents}. */
export const customBudgets: ReadonlyMap<string, { readonly cents: number; readonly reason: string }> = new Map([
  ['ENG002', { cents: 8_000_00, reason: 'Visits customers in person to plan their installations.' }],
  ['ENG004', { cents: 12_000_00, reason: 'Builds installations at customer sites.' }],
  ['SAL004', { cents: 15_000_00, reason: 'Responsible for a region of nine countries.' }],
  ['SAL006', { cents: 20_000_00, reason: 'Visits every region in every quarter.' }],
  ['MKT004', { cents: 10_000_00, reason: 'Runs the stands at trade fairs.' }],
])

const year = 2025
const cities = ['Berlin', 'Lisbon', 'Milan', 'Oslo', 'Prague', 'Vienna', 'Zurich']
const paymentMethods = ['corporate_card', 'personal_card', 'cash', 'bank_transfer']
const projects = ['ATLAS', 'BEACON', 'COMET', 'DELTA']
const approverNames = ['Tara Quinn', 'Uwe Schmidt', 'Wanda Petrova']
const notes = ['Receipt attached.', 'Booked late because the date moved.', 'Split with another team.']

/** Expenses of an employee in a quarter, by date; undefined for an unknown id. Deterministic on every machine. */
export function expensesOf(employeeId: string, quarter: Quarter): readonly Expense[] | undefined {
  const share = travelShare(employeeId)
  if (share === undefined) return undefined
  const random = seededRandom(`team expenses/${employeeId}/${quarter}`)
  const count = 20 + Math.floor(random() * 31)
  const days = Array.from({ length: count }, () => Math.floor(random() * 90)).sort((a, b) => a - b)
  return days.map((day, index) =>
    expenseOf(`${employeeId}-${quarter}-${String(index + 1).padStart(3, '0')}`, quarter, day, share, random),
  )
}

function expenseOf(id: string, quarter: Quarter, day: number, share: number, random: () => number): Expense {
  const pick = <T>(from: readonly T[]): T => {
    const [picked] = from.slice(Math.floor(random() * from.length))
    if (picked === undefined) throw new RangeError('nothing to pick from')
    return picked
  }
  const kind = pickKind(share, random, pick)
  const [least, most] = kind.cents
  const cents = least + Math.floor(random() * (most - least + 1))
  const status = statusOf(random())
  const paidAfter = 7 + Math.floor(random() * 21)
  const approver = pick(approverNames)
  return {
    expense_id: id,
    date: dateOf(quarter, day),
    category: kind.category,
    description: kind.description,
    cents,
    currency: 'EUR',
    status,
    receipt_url: `https://receipts.example.com/${id}.pdf`,
    approved_by: status === 'approved' ? approver : null,
    store_name: pick(kind.stores),
    store_location: pick(cities),
    reimbursement_date: status === 'approved' ? dateOf(quarter, day + paidAfter) : null,
    payment_method: pick(paymentMethods),
    project_code: `${pick(projects)}-${100 + Math.floor(random() * 900)}`,
    notes: random() < 0.3 ? pick(notes) : null,
  }
}

function pickKind(share: number, random: () => number, pick: <T>(from: readonly T[]) => T): ExpenseKind {
  const onTrip = random() < 0.15 + 0.6 * share
  return pick(expenseKinds.filter((kind) => kind.onTrips === onTrip))
}

/** 85 % approved, 10 % pending, 5 % rejected. */
function statusOf(chance: number): Status {
  if (chance < 0.85) return 'approved'
  return chance < 0.95 ? 'pending' : 'rejected'
}

function dateOf(quarter: Quarter, day: number): string {
  const firstMonth = (Number(quarter.slice(1)) - 1) * 3
  return new Date(Date.UTC(year, firstMonth, 1 + day)).toISOString().slice(0, 10)
}
