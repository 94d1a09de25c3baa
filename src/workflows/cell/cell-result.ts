import type { CellOutcome } from '../../common/outcomes.js'
import { joinText } from '../temporal/activities.js'
import type { CellRun } from './run-cell.js'
import type { Run } from '../run.js'
import { payloadBytes } from '../stored-bytes.js'

/** An outcome whose output is in place, for whoever reads the result. */
export async function toCellOutcome({ end, output }: CellRun, { config, stored }: Run): Promise<CellOutcome> {
  if (typeof output === 'string') return { ...end, output }
  const joined = await joinText(output, config.timeouts)
  // Large output is stored twice more: as the result of the activity, and as that of the program or the execution.
  stored.bytes += 2 * payloadBytes(joined)
  return { ...end, output: joined }
}
