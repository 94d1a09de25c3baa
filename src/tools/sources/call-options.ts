import { z } from 'zod'
import { durationOption } from '../../platform/option-schemas.js'

/** The options of calls that every source of tools takes, for the source and for single tools. */
export const callOptions = {
  effect: z.enum(['read', 'idempotent', 'once']).exactOptional(),
  approval: z.enum(['always', 'never']).exactOptional(),
  timeout: durationOption('60s').exactOptional(),
  allowedCallers: z
    .array(z.enum(['direct', 'code_execution']))
    .min(1)
    .exactOptional(),
}

/** Name of a source in the configuration: the first part of the names of its tools. */
export const sourceName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, 'must be 1 to 32 letters, digits and "_", of which the first is a letter')
