import { defineTool } from 'durable-ptc'
import { z } from 'zod'

/** Sales of each shop in January, February and March. */
const sales: Readonly<Record<string, readonly number[]>> = {
  berlin: [310, 305, 320],
  lyon: [280, 285, 90],
  porto: [150, 160, 155],
}

export const salesOf = defineTool({
  name: 'sales_of',
  description: 'The sales of a shop (berlin, lyon, porto) in each month of the quarter, in thousands of EUR.',
  input: z.object({ shop: z.string() }),
  output: z.array(z.number()),
  effect: 'read',
  run: ({ shop }) => [...(sales[shop] ?? [])],
})

export const incidentsOf = defineTool({
  name: 'incidents_of',
  description: 'What went wrong in a shop in a month of the quarter, from 1.',
  input: z.object({ shop: z.string(), month: z.int() }),
  output: z.array(z.string()),
  effect: 'read',
  run: ({ shop, month }) => (shop === 'lyon' && month === 3 ? ['closed for two weeks: water damage'] : []),
})
