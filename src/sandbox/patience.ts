import type { StepLimits } from '../common/limits.js'
import type { RunnerStep } from './protocol/step-message.js'

/** What the runner gives itself to read a snapshot. */
const restoreSeconds = 60

/** How long a stopped cell may take to answer before its sandbox is killed. */
export const graceMs = 3_000

/** What the runner may take, beside that, to make values of a MiB of JSON text. */
export const parseMsPerMebibyte = 1_000

/** The runner stops code by itself at the limit; this is for code that does not let it. */
export function patienceMs({ input }: RunnerStep, limits: Pick<StepLimits, 'cellSeconds'>): number {
  const seconds = input.type === 'restore' ? restoreSeconds : limits.cellSeconds
  return seconds * 1_000 + graceMs
}
