import { createTestEnvironment, type Script } from '../dist/testing/index.js'
import { question } from '../examples/team-expenses/question.js'
import { script } from '../examples/team-expenses/script.js'
import { tools } from '../examples/team-expenses/tools.js'
import { type BenchContext, benchmark } from './support/benchmark.js'
import { type DirectCall, directCallBytes } from './support/direct-calls.js'
import type { ResultRow } from './support/measure.js'

// Measures the bytes that a model reads and writes for a task, with calls from code and with direct calls. No real
// model takes part: the scripted model writes the same code and the same calls each time, so one repetition is enough.
await benchmark('tokens', async (context) => {
  const { progress } = context
  progress('the expenses of a department: about 10 calls, 300 lines of results')
  const members = await callDirectly('get_team_members', { department: 'engineering' })
  const ids = (JSON.parse(members.result) as readonly { readonly id: string }[]).map(({ id }) => id)
  const expenses = await Promise.all(ids.map((id) => callDirectly('get_expenses', { employee_id: id, quarter: 'Q3' })))
  const budgets = await Promise.all(ids.slice(0, 4).map((id) => callDirectly('get_custom_budget', { user_id: id })))
  const answer = 'Two engineers exceeded their travel budget.'
  const expensesDirect = directCallBytes(tools, question, [[members], expenses, budgets], answer)
  const expensesFromCode = await bytesOfRun(context, question, script)

  const fewCalls: ResultRow[] = []
  for (const count of [2, 3, 5]) {
    progress(`${count} calls, one after the other`)
    const few = 'What is the travel budget of the first engineers?'
    const code = [
      'members = await get_team_members(department="engineering")',
      `for member in members[:${count - 1}]:`,
      '    print((await get_custom_budget(user_id=member["id"]))["travel_budget"])',
    ].join('\n')
    const turns = [[members], ...budgets.slice(0, count - 1).map((each) => [each])]
    const direct = directCallBytes(tools, few, turns, answer)
    const fromCode = await bytesOfRun(context, few, [
      { reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code } }] } },
      { reply: { content: [{ type: 'text', text: answer }] } },
    ])
    fewCalls.push(
      { name: `${count} calls, direct calls`, unit: 'bytes', samples: [direct] },
      { name: `${count} calls, calls from code`, unit: 'bytes', samples: [fromCode] },
      { name: `${count} calls: code / direct`, unit: '%', samples: [(100 * fromCode) / direct], target: 100 },
    )
  }
  return [
    { name: 'expenses, direct calls', unit: 'bytes', samples: [expensesDirect] },
    { name: 'expenses, calls from code', unit: 'bytes', samples: [expensesFromCode] },
    {
      name: 'expenses: code / direct',
      unit: '%',
      samples: [(100 * expensesFromCode) / expensesDirect],
      target: 15,
    },
    ...fewCalls,
  ]
})

async function callDirectly(name: string, input: Readonly<Record<string, string>>): Promise<DirectCall> {
  const tool = tools.find((each) => each.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  return { name, input, result: JSON.stringify(await tool.run(input as never, undefined as never)) }
}

/** Bytes of all requests of a run, and of the replies that are not in its last request. */
async function bytesOfRun({ progress, defer }: BenchContext, asked: string, replies: Script): Promise<number> {
  const env = await createTestEnvironment({ tools, script: replies, onProgress: progress })
  defer(() => env.close())
  const { status, answer } = await env.runAgent(asked)
  if (status !== 'answered') throw new Error(`the run ended with status ${status}`)
  const requests = env.api.requests.map(({ body }) => body as Readonly<Record<string, unknown>>)
  const sent = requests.map(({ system, tools: offered, messages }) =>
    JSON.stringify({ system, tools: offered, messages }),
  )
  await env.close()
  return [...sent, answer].reduce((total, text) => total + Buffer.byteLength(text), 0)
}
