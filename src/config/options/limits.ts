import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { Limits } from '../../common/run/limits.js'

const positiveInteger = z.int().min(1)

/** A number of seconds, up to the maximum of a timer (24 days). */
const seconds = z.number().positive().max(2_147_483, 'at most 2,147,483 seconds (24 days)')

/** Accepts limits of a configuration, an agent, or the options of a run. */
export const limitsSchema = z
  .strictObject({
    turns: positiveInteger,
    callsPerCell: positiveInteger,
    callsPerRun: positiveInteger,
    callsInFlight: positiveInteger.max(1_000, 'Temporal allows 2,000 pending activities; at most 1,000'),
    cellSeconds: seconds,
    cellTotalSeconds: seconds,
    outputCharacters: positiveInteger.max(200_000, 'Temporal refuses payloads over 2 MiB; at most 200,000'),
    argumentBytes: positiveInteger.max(4_000_000, 'the arguments of a call must fit into one frame; at most 4,000,000'),
    resultBytes: positiveInteger.max(1024 ** 3, 'a tool has its result in memory; at most 1 GiB'),
    storedBytes: positiveInteger,
    sourceBytes: positiveInteger,
    memoryBytes: positiveInteger.min(32 * 1024 * 1024, 'a session needs at least 32 MiB'),
    cpus: z.number().positive(),
    processes: positiveInteger,
    tmpBytes: positiveInteger,
  } satisfies { readonly [Key in keyof Limits]: z.ZodType })
  .partial()

/**
 * Returns the configured limits with the overrides of one run or agent.
 *
 * @param owner the run or agent with the overrides, for the message
 * @throws PtcError CONFIG_INVALID naming each invalid override
 */
export function applyOverrides<Configured extends Limits>(
  configured: Configured,
  overrides: z.input<typeof limitsSchema> = {},
  owner = 'the run',
): Configured {
  const { data, error } = limitsSchema.safeParse(overrides)
  if (error) throw new PtcError('CONFIG_INVALID', `the limits of ${owner} are not valid:\n${z.prettifyError(error)}`)
  return { ...configured, ...defined(data) }
}
