import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defaultLimits, type Limits } from '../../common/run/limits.js'
import { maximumFrameBytes } from '../../sandbox/protocol/frames.js'

const positiveInteger = z.int().min(1)

/** A number of seconds, up to the maximum of a timer (24 days). */
const seconds = z.number().positive().max(2_147_483, 'at most 2,147,483 seconds (24 days)')

/** Accepts limits of a configuration or of the options of a run. A missing limit has its default. */
export const limitsSchema = z.strictObject({
  turns: positiveInteger.default(defaultLimits.turns),
  answerAttempts: positiveInteger.default(defaultLimits.answerAttempts),
  planSteps: positiveInteger
    .max(50, 'the results of all steps are part of one message; at most 50')
    .default(defaultLimits.planSteps),
  callsPerCell: positiveInteger.default(defaultLimits.callsPerCell),
  callsPerRun: positiveInteger.default(defaultLimits.callsPerRun),
  callsInFlight: positiveInteger
    .max(1_000, 'Temporal allows 2,000 pending activities; at most 1,000')
    .default(defaultLimits.callsInFlight),
  deferredCalls: positiveInteger
    .max(5_000, 'continue-as-new carries each waiting call over; at most 5,000')
    .default(defaultLimits.deferredCalls),
  compensations: positiveInteger
    .max(2_000, 'one history has all compensations; at most 2,000')
    .default(defaultLimits.compensations),
  cellSeconds: seconds.default(defaultLimits.cellSeconds),
  cellTotalSeconds: seconds.default(defaultLimits.cellTotalSeconds),
  historyEvents: positiveInteger
    .min(100, 'the start of a run needs some events; at least 100')
    .max(20_000, 'Temporal ends a run at 51,200; at most 20,000')
    .default(defaultLimits.historyEvents),
  wakesPerCell: positiveInteger
    .max(2_000, 'each is a step in the history; at most 2,000')
    .default(defaultLimits.wakesPerCell),
  outputCharacters: positiveInteger
    .max(200_000, 'Temporal refuses payloads over 2 MiB; at most 200,000')
    .default(defaultLimits.outputCharacters),
  capturedCharacters: positiveInteger
    .max(200_000, 'Temporal refuses payloads over 2 MiB; at most 200,000')
    .default(defaultLimits.capturedCharacters),
  argumentBytes: positiveInteger
    .max(4_000_000, 'the arguments of a call must fit into one frame; at most 4,000,000')
    .default(defaultLimits.argumentBytes),
  resultBytes: positiveInteger
    .max(1024 ** 3, 'a tool has its result in memory; at most 1 GiB')
    .default(defaultLimits.resultBytes),
  storedBytes: positiveInteger.default(defaultLimits.storedBytes),
  sourceBytes: positiveInteger.default(defaultLimits.sourceBytes),
  frameBytes: positiveInteger
    .min(2 * 1024 * 1024, 'the payload of a step needs up to 2 MiB')
    .max(maximumFrameBytes)
    .default(defaultLimits.frameBytes),
  memoryBytes: positiveInteger
    .min(32 * 1024 * 1024, 'a session needs at least 32 MiB')
    .default(defaultLimits.memoryBytes),
  cpus: z.number().positive().default(defaultLimits.cpus),
  processes: positiveInteger.default(defaultLimits.processes),
  tmpBytes: positiveInteger.default(defaultLimits.tmpBytes),
  tmpInodes: positiveInteger.default(defaultLimits.tmpInodes),
  fileBytes: positiveInteger.default(defaultLimits.fileBytes),
  openFiles: positiveInteger.min(16).default(defaultLimits.openFiles),
})

/**
 * Returns the configured limits with the overrides of one run or agent.
 *
 * @param owner the run or agent with the overrides, for the message
 * @throws PtcError CONFIG_INVALID naming each invalid override
 */
export function applyOverrides(configured: Limits, overrides: Partial<Limits>, owner = 'the run'): Limits {
  const parsed = limitsSchema.safeParse({ ...configured, ...overrides })
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `the limits of ${owner} are not valid:\n${z.prettifyError(parsed.error)}`)
}
