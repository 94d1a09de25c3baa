import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import { defaultLimits, type Limits } from '../common/limits.js'
import { maximumFrameBytes } from '../sandbox/protocol/frames.js'

const whole = z.int().min(1)

/** Up to what a timer can be (24 days). */
const seconds = z.number().positive().max(2_147_483, 'at most 2,147,483 seconds (24 days)')

/** Limits as a configuration or a run may ask for them; what is not said is the default. */
export const limitsSchema = z.strictObject({
  turns: whole.default(defaultLimits.turns),
  callsPerCell: whole.default(defaultLimits.callsPerCell),
  callsPerRun: whole.default(defaultLimits.callsPerRun),
  callsInFlight: whole
    .max(1_000, 'Temporal allows 2,000 pending activities; at most 1,000')
    .default(defaultLimits.callsInFlight),
  cellSeconds: seconds.default(defaultLimits.cellSeconds),
  cellTotalSeconds: seconds.default(defaultLimits.cellTotalSeconds),
  historyEvents: whole
    .min(100, 'a run that begins needs some; at least 100')
    .max(20_000, 'Temporal ends a run at 51,200; at most 20,000')
    .default(defaultLimits.historyEvents),
  wakesPerCell: whole.max(2_000, 'a history takes no more; at most 2,000').default(defaultLimits.wakesPerCell),
  outputCharacters: whole
    .max(200_000, 'Temporal refuses payloads over 2 MiB; at most 200,000')
    .default(defaultLimits.outputCharacters),
  capturedCharacters: whole
    .max(200_000, 'Temporal refuses payloads over 2 MiB; at most 200,000')
    .default(defaultLimits.capturedCharacters),
  argumentBytes: whole
    .max(4_000_000, 'a call travels in one frame; at most 4,000,000')
    .default(defaultLimits.argumentBytes),
  resultBytes: whole
    .max(1024 ** 3, 'a result is whole in the memory of its tool; at most 1 GiB')
    .default(defaultLimits.resultBytes),
  storedBytes: whole.default(defaultLimits.storedBytes),
  sourceBytes: whole.default(defaultLimits.sourceBytes),
  frameBytes: whole
    .min(2 * 1024 * 1024, 'what one step carries needs up to 2 MiB')
    .max(maximumFrameBytes)
    .default(defaultLimits.frameBytes),
  memoryBytes: whole.min(32 * 1024 * 1024, 'a Python session needs at least 32 MiB').default(defaultLimits.memoryBytes),
  cpus: z.number().positive().default(defaultLimits.cpus),
  processes: whole.default(defaultLimits.processes),
  tmpBytes: whole.default(defaultLimits.tmpBytes),
  tmpInodes: whole.default(defaultLimits.tmpInodes),
  fileBytes: whole.default(defaultLimits.fileBytes),
  openFiles: whole.min(16).default(defaultLimits.openFiles),
})

/**
 * The configured limits with the wishes of one run.
 *
 * @throws PtcError CONFIG_INVALID naming each wish that can't be had
 */
export function withWishes(configured: Limits, wishes: Partial<Limits>): Limits {
  const parsed = limitsSchema.safeParse({ ...configured, ...wishes })
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `the limits of the run are not valid:\n${z.prettifyError(parsed.error)}`)
}
