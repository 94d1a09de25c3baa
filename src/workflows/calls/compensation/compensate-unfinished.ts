import { ContinueAsNew } from '@temporalio/workflow'
import { type CompensationReport, describeReport } from '../../../common/calls/compensation.js'
import type { Compensations } from './compensations.js'

/**
 * Does the work of a run. When the work fails, is cancelled, or ends with a result that does not count as finished, the
 * calls of the run are compensated before its end.
 *
 * @param work has closed its sandbox when it returns or throws
 */
export async function compensateUnfinished<Result>(
  compensations: Compensations,
  work: () => Promise<Result>,
  isFinished: (result: Result) => boolean,
): Promise<Result> {
  try {
    const result = await work()
    if (!isFinished(result)) await compensations.compensateAll()
    return result
  } catch (thrown) {
    if (!(thrown instanceof ContinueAsNew)) await compensations.compensateAll()
    throw thrown
  }
}

/**
 * Ends the work on one message of a conversation: compensates its calls, unless it is finished.
 *
 * @returns the compensations, and a note about them for the model
 */
export async function compensateMessage(
  compensations: Compensations,
  isFinished: boolean,
): Promise<{ readonly report: CompensationReport | undefined; readonly note: string | undefined }> {
  if (!isFinished) await compensations.compensateAll()
  const { report } = compensations
  compensations.clear()
  const note =
    report && !isFinished
      ? `(The work on this message was not finished, so its calls were undone: ${describeReport(report)}.)`
      : undefined
  return { report, note }
}
