import { expect, it } from 'vitest'
import { z } from 'zod'
import { defaultLimits } from '../../common/run/limits.js'
import { defineTool } from '../../index.js'
import { languageOf } from '../../languages/index.js'
import { documentTools } from '../../tools/documentation/document-tools.js'
import { buildPrompt } from './prompt.js'

const language = languageOf('javascript')

const expense = z.object({ id: z.string(), amount: z.number().describe('In US dollars.') }).meta({ title: 'Expense' })
const input = z.object({
  employee_id: z.string().describe('Such as ENG001.'),
  quarter: z.enum(['Q1', 'Q2']).optional(),
})
const basis = { effect: 'read', input, run: () => null as never } as const
const documentation = documentTools(
  [
    defineTool({ ...basis, name: 'get_expenses', description: 'Expenses of one employee.', output: z.array(expense) }),
    defineTool({
      ...basis,
      name: 'fetch',
      description: 'Fetches.',
      output: expense,
      allowedCallers: ['direct', 'code_execution'],
    }),
  ],
  undefined,
  language,
)

it('the prompt in JavaScript matches its golden file', async () => {
  const { tools } = buildPrompt({ language, tools: documentation, limits: defaultLimits })
  const texts = tools.map(({ name, description }) => `=== tool ${name}\n${description}`)
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot('javascript-prompt.golden.txt')
})

it('no text of the prompt in JavaScript is about Python, with all that a prompt may have', () => {
  const prompt = buildPrompt({
    language,
    tools: documentation,
    limits: defaultLimits,
    inputDescription: language.describeValue([{ a: 1 }]),
    sharedSession: { type: 'named', name: 'books' },
    outputSchema: { type: 'object', properties: {} },
    mode: 'plan',
    readMore: true,
    isCompacted: true,
    toolSearch: true,
  })
  expect(JSON.stringify(prompt)).not.toMatch(/python|asyncio|docstring|keyword arg|\bdict\b|\bprint\(/i)
  expect(JSON.stringify(prompt)).toContain('session books')
})
