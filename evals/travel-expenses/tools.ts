import { defineTool, ToolError } from 'durable-ptc'
import { z } from 'zod'

const people = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana'].map((name, index) => ({
  id: `ENG00${index + 1}`,
  name,
}))
const categories = ['travel', 'lodging', 'meals', 'software'] as const
const statuses = ['approved', 'approved', 'approved', 'pending', 'rejected'] as const
const exceptions: Readonly<Record<string, number>> = { ENG003: 9_000, ENG005: 6_000 }

/** The lines of a person. They follow from the id alone, so that each attempt and each run sees the same. */
function linesOf(id: string) {
  const number = Number(id.slice(3))
  return Array.from({ length: 40 }, (_, index) => {
    const seed = (number * 7_919 + index * 104_729) % 9_973
    return {
      category: categories[seed % categories.length] ?? 'meals',
      status: statuses[(seed >> 3) % statuses.length] ?? 'pending',
      amount: (seed % 97) * (number + 2) + 50,
    }
  })
}

const id = z.string().regex(/^ENG00[1-8]$/)

export const tools = [
  defineTool({
    name: 'list_engineers',
    description: 'The engineers.',
    input: z.object({}),
    output: z.array(z.object({ id: z.string(), name: z.string() })),
    effect: 'read',
    run: () => people,
  }),
  defineTool({
    name: 'expense_lines',
    description: 'The expense lines of an engineer in Q3, in EUR.',
    input: z.object({ id }),
    output: z.array(z.object({ category: z.enum(categories), status: z.enum(statuses), amount: z.number() })),
    // Too much data for a model to read, so only code may call it.
    allowedCallers: ['code_execution'],
    effect: 'read',
    run: (input) => linesOf(input.id),
  }),
  defineTool({
    name: 'travel_budget',
    description: 'The exception of an engineer from the standard budget of 5000 EUR.',
    input: z.object({ id }),
    output: z.number(),
    effect: 'read',
    run(input) {
      const budget = exceptions[input.id]
      if (budget === undefined) throw new ToolError('This engineer has no exception.')
      return budget
    },
  }),
]
