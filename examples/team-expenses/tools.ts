import { defineTool, ToolError } from 'durable-ptc'
import { z } from 'zod'
import { customBudgets, expensesOf, standardBudgetCents } from './data.js'
import { employeesOf, travelShare } from './people.js'

const employee = z
  .object({
    id: z.string().describe('Such as ENG001.'),
    name: z.string(),
    role: z.string(),
    level: z.enum(['junior', 'mid', 'senior', 'lead']),
    email: z.email(),
    department: z.enum(['engineering', 'sales', 'marketing']),
  })
  .meta({ title: 'Employee' })

const expense = z
  .object({
    expense_id: z.string(),
    date: z.iso.date(),
    category: z.enum(['travel', 'lodging', 'meals', 'software', 'equipment', 'training', 'office', 'communication']),
    description: z.string(),
    amount: z.number().describe('In the currency, with cents.'),
    currency: z.literal('EUR'),
    status: z.enum(['approved', 'pending', 'rejected']).describe('Only approved expenses count towards a budget.'),
    receipt_url: z.url(),
    approved_by: z.string().nullable(),
    store_name: z.string(),
    store_location: z.string(),
    reimbursement_date: z.iso.date().nullable(),
    payment_method: z.string(),
    project_code: z.string(),
    notes: z.string().nullable(),
  })
  .meta({ title: 'Expense' })

const budget = z
  .object({
    user_id: z.string(),
    has_custom_budget: z.boolean(),
    travel_budget: z
      .number()
      .describe('What the employee may spend in a quarter: the exception, or the standard 5000.'),
    reason: z.string().nullable().describe('Why there is an exception.'),
    currency: z.literal('EUR'),
  })
  .meta({ title: 'TravelBudget' })

const employeeId = z.string().regex(/^[A-Z]{3}\d{3}$/)

export const getTeamMembers = defineTool({
  name: 'get_team_members',
  description: 'The members of a department. Returns a list of employees; their id is what the other tools take.',
  input: z.object({ department: z.enum(['engineering', 'sales', 'marketing']) }),
  output: z.array(employee),
  effect: 'read',
  inputExamples: [{ department: 'engineering' }, { department: 'sales' }, { department: 'marketing' }],
  run: ({ department }) => [...employeesOf(department)],
})

export const getExpenses = defineTool({
  name: 'get_expenses',
  description: `All expense lines of one employee in one quarter, 20 to 50 of them, by date.
The travel budget covers the categories travel AND lodging, and of those only lines with status approved: pending and rejected
ones do not count, nor do meals and other categories.`,
  input: z.object({
    employee_id: employeeId.describe('From get_team_members.'),
    quarter: z.enum(['Q1', 'Q2', 'Q3', 'Q4']),
  }),
  output: z.array(expense),
  // Too much data for a model to read, so only code may call it.
  allowedCallers: ['code_execution'],
  effect: 'read',
  inputExamples: [
    { employee_id: 'ENG001', quarter: 'Q3' },
    { employee_id: 'SAL004', quarter: 'Q1' },
    { employee_id: 'MKT002', quarter: 'Q4' },
  ],
  summary: ({ employee_id, quarter }) => `get_expenses ${employee_id} ${quarter}`,
  run({ employee_id, quarter }) {
    const expenses = expensesOf(employee_id, quarter)
    if (expenses === undefined) throw new ToolError(`No such employee: ${employee_id}`)
    return expenses.map(({ cents, ...line }) => ({ ...line, amount: cents / 100 }))
  },
})

export const getCustomBudget = defineTool({
  name: 'get_custom_budget',
  description: `The travel budget of one employee for a quarter. The standard is 5000 EUR; a few employees have an exception.
Ask only for employees who are above the standard: for the others it changes nothing.`,
  input: z.object({ user_id: employeeId.describe('The id of the employee, from get_team_members.') }),
  output: budget,
  effect: 'read',
  inputExamples: [{ user_id: 'ENG002' }, { user_id: 'SAL006' }, { user_id: 'MKT001' }],
  summary: ({ user_id }) => `get_custom_budget ${user_id}`,
  run({ user_id }) {
    if (travelShare(user_id) === undefined) throw new ToolError(`No such employee: ${user_id}`)
    const custom = customBudgets.get(user_id)
    return {
      user_id,
      has_custom_budget: custom !== undefined,
      travel_budget: (custom?.cents ?? standardBudgetCents) / 100,
      reason: custom?.reason ?? null,
      currency: 'EUR' as const,
    }
  },
})

export const tools = [getTeamMembers, getExpenses, getCustomBudget]
