import { z } from 'zod'
import type { Budget } from '../../common/budget/budget.js'

const count = z.int().min(1).optional()
const amount = z.number().positive().optional()

/** Accepts a budget of a configuration, an agent, or the options of a run. */
export const budgetSchema = z
  .strictObject({
    costUsd: amount,
    tokens: count,
    turns: count,
    toolCalls: count,
    seconds: amount,
    whenSpent: z.enum(['pause', 'end']).optional(),
  } satisfies { readonly [Key in keyof Budget]-?: z.ZodType })
  .transform((budget): Budget => Object.fromEntries(Object.entries(budget).filter(([, value]) => value !== undefined)))
