// Who in engineering exceeded the travel budget in Q3? Run it without a model: ptc exec
// examples/team-expenses/program.js
const STANDARD_BUDGET = 5000
const COUNTED = new Set(['travel', 'lodging'])

const members = await get_team_members({ department: 'engineering' })
const expenses = await Promise.all(members.map(({ id }) => get_expenses({ employee_id: id, quarter: 'Q3' })))

// In cents, because sums of floats are inexact.
const counts = ({ status, category }) => status === 'approved' && COUNTED.has(category)
const spent = new Map(
  members.map(({ id }, index) => [
    id,
    expenses[index].filter(counts).reduce((cents, { amount }) => cents + Math.round(amount * 100), 0),
  ]),
)
const above = members.filter(({ id }) => spent.get(id) > STANDARD_BUDGET * 100)
const budgets = await Promise.all(above.map(({ id }) => get_custom_budget({ user_id: id })))

for (const [index, { id, name }] of above.entries()) {
  const limit = budgets[index].travel_budget
  if (spent.get(id) <= Math.round(limit * 100)) continue
  const total = (spent.get(id) / 100).toFixed(2)
  console.log(`${id}  ${name.padEnd(16)}${total.padStart(10)} EUR of ${limit.toFixed(2)}`)
}
