import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const secret = 7_351

export const tools = [
  defineTool({
    name: 'is_at_least',
    description: 'Whether the secret number, from 1 to 10,000, is at least this one.',
    input: z.object({ number: z.int().min(1).max(10_000) }),
    output: z.boolean(),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'read',
    run: ({ number }) => secret >= number,
  }),
]
