import type { StepLimits } from '../../common/run/limits.js'
import type { RunnerStep } from '../protocol/step-message.js'

/** The runner's own limit for a restore: `RESTORE_SECONDS` of snapshot_protocol.py. */
const restoreSeconds = 60

/** Time between the interrupt and the kill; also the margin in which the runner applies its own limit. */
export const stopGraceMs = 3_000

/** Additional time for the runner to parse values, for each MiB of JSON text. */
export const parseMsPerMebibyte = 1_000

/** Returns the time limit of a step. The runner itself stops the code at this limit. */
export function stepLimitSeconds({ input }: RunnerStep, limits: Pick<StepLimits, 'cellSeconds'>): number {
  return input.type === 'restore' ? restoreSeconds : limits.cellSeconds
}
