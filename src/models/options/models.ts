import { z } from 'zod'

const dollars = z.number().min(0)
const rates = { input: dollars, output: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional() }

/** Schema of `models`: facts about models, by their names. */
export const modelsOption = z.record(
  z.string().min(1),
  z.strictObject({
    contextWindow: z.int().min(1_000, 'is a number of tokens; at least 1,000').optional(),
    price: z
      .strictObject({ ...rates, longPrompt: z.strictObject({ ...rates, overTokens: z.int().min(1) }).optional() })
      .optional(),
  }),
)
