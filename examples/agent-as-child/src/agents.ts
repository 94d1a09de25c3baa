import { defineAgent, defineTool } from 'durable-ptc'
import { z } from 'zod'

const orders: Readonly<Record<string, readonly { order: string; euros: number; state: string }[]>> = {
  ada: [
    { order: 'A-17', euros: 80, state: 'delivered' },
    { order: 'A-18', euros: 45, state: 'lost' },
  ],
}

/** A tool: code in the sandbox calls it, and it runs as an activity of this worker. */
export const ordersOf = defineTool({
  name: 'orders_of',
  description: 'The orders of a customer, with their state: delivered, on its way, or lost.',
  input: z.object({ customer: z.string() }),
  output: z.array(z.object({ order: z.string(), euros: z.number(), state: z.string() })),
  effect: 'read',
  run: ({ customer }) => [...(orders[customer] ?? [])],
})

/** The agent. Workflows import its type only. */
export const triage = defineAgent({
  name: 'triage',
  instructions: 'You answer customers of a shop. Look their orders up; the ticket is in input_data.',
  tools: [ordersOf],
  output: z.object({
    reply: z.string(),
    refund: z.object({ order: z.string(), euros: z.number() }).nullable(),
  }),
  limits: { turns: 10 },
})
