import { z } from 'zod'

/** Schema of `compaction`. */
export const compactionOption = z
  .union([
    z.literal(false),
    z.strictObject({
      threshold: z
        .number()
        .min(0.2, 'is a share of the context window; at least 0.2')
        .max(0.95, 'is a share of the context window; at most 0.95')
        .default(0.8),
    }),
  ])
  .prefault({})
