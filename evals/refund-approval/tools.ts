import { defineTool } from 'durable-ptc'
import { z } from 'zod'

export const tools = [
  defineTool({
    name: 'refund_order',
    description: 'Refunds an order. A person approves each refund before it happens.',
    input: z.object({ order: z.string(), cents: z.int().positive() }),
    output: z.object({ order: z.string(), refunded: z.int() }),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'once',
    approval: 'always',
    summary: ({ order, cents }) => `refund ${order} ${cents}`,
    run: ({ order, cents }) => ({ order, refunded: cents }),
  }),
]
