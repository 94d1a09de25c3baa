import type { CellOutcome } from '../common/outcomes.js'
import type { Timings } from '../common/plan.js'
import { joinText } from './engine.js'
import type { CellRun } from './run-cell.js'

/** An outcome whose output is in place, for whoever reads the result. */
export async function outcomeOf({ end, output }: CellRun, timings: Timings): Promise<CellOutcome> {
  return { ...end, output: typeof output === 'string' ? output : await joinText(output, timings) }
}
