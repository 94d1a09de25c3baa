import { z } from 'zod'

export const output = z.object({
  path: z.string().describe('The slowest path.'),
  p95: z.int().describe('Its 95th percentile in milliseconds.'),
})
