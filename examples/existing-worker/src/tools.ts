import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const stocks: Readonly<Record<string, number>> = { bolt: 40, nut: 900, washer: 15 }
const soldPerDay: Readonly<Record<string, number>> = { bolt: 12, nut: 20, washer: 9 }

/** A tool: code in the sandbox calls it, and it runs as an activity of this worker. */
export const stock = defineTool({
  name: 'stock',
  description: 'The number of pieces of an article in stock.',
  input: z.object({ article: z.string() }),
  output: z.number(),
  effect: 'read',
  run: ({ article }) => stocks[article] ?? 0,
})

/** Another tool. */
export const sales = defineTool({
  name: 'sales',
  description: 'The number of pieces of an article that are sold on an average day.',
  input: z.object({ article: z.string() }),
  output: z.number(),
  effect: 'read',
  run: ({ article }) => soldPerDay[article] ?? 0,
})
