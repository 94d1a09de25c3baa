import { defineTool } from 'durable-ptc'
import { z } from 'zod'

const rows = [
  { item: 'desk', price: '1,250.50', count: '2' },
  { item: 'lamp', price: 39.9, count: 10 },
  { item: 'chair', price: '€ 180.00', count: '4' },
  { item: 'plant', price: null, count: 3 },
  { item: 'shelf', price: ' 99.95 ', count: '1' },
  { item: 'carpet', price: 'n/a', count: null },
]

export const tools = [
  defineTool({
    name: 'read_price_list',
    description: 'The rows of a price list, as somebody typed them: item, price in EUR, count.',
    input: z.object({}),
    output: z.array(z.record(z.string(), z.json())),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'read',
    run: () => rows,
  }),
]
