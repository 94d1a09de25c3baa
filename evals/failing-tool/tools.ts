import { defineTool, ToolError } from 'durable-ptc'
import { z } from 'zod'

const stock: Readonly<Record<string, number>> = { bolt: 1_240, nut: 860, washer: 2_015, spring: 77 }

export const tools = [
  defineTool({
    name: 'stock_level',
    description: 'The number of pieces of an item in the warehouse.',
    input: z.object({ item: z.string() }),
    output: z.int(),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'read',
    run({ item }) {
      const level = stock[item]
      if (level === undefined) throw new ToolError(`The scanner of shelf ${item} is broken. Its stock is not known.`)
      return level
    },
  }),
]
