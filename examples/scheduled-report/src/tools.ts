import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const ordersPerDay: Readonly<Record<string, number>> = { berlin: 31, lyon: 28, porto: 15 }

export const ordersOn = defineTool({
  name: 'orders_on',
  description: 'The number of orders of a shop on a day.',
  input: z.object({ shop: z.string(), day: z.iso.date() }),
  output: z.int(),
  effect: 'read',
  run: ({ shop }) => ordersPerDay[shop] ?? 0,
})
