import { ContinueAsNew } from '@temporalio/workflow'
import { type CompensationReport, describeReport } from '../../../common/calls/compensation.js'
import type { Run } from '../../run/run.js'
import type { MessageHistory } from '../../turns/message-history.js'

/**
 * Does the work of a run. When the work fails, is cancelled, or ends with a result that does not count as finished, the
 * calls of the run are compensated before its end.
 *
 * @param work has closed its sandbox when it returns or throws
 */
export async function compensateUnfinished<Result>(
  run: Run,
  work: () => Promise<Result>,
  isFinished: (result: Result) => boolean,
): Promise<Result> {
  try {
    const result = await work()
    if (!isFinished(result)) await run.compensations.compensateAll(run)
    return result
  } catch (thrown) {
    if (!(thrown instanceof ContinueAsNew)) await run.compensations.compensateAll(run)
    throw thrown
  }
}

/**
 * Ends the work on one message of a conversation: compensates its calls, unless it is finished. The model reads a
 * report of it with the next message.
 */
export async function compensateMessage(
  run: Run,
  messages: MessageHistory,
  isFinished: boolean,
): Promise<{ readonly compensation?: CompensationReport }> {
  const { compensations } = run
  if (!isFinished) await compensations.compensateAll(run)
  const { report } = compensations
  compensations.clear()
  if (!report) return {}
  if (!isFinished) {
    const text = `(The work on this message was not finished, so its calls were undone: ${describeReport(report)}.)`
    messages.addPending([{ type: 'text', text }])
  }
  return { compensation: report }
}
