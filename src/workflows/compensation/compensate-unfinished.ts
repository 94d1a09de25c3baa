import { CancellationScope, ContinueAsNew } from '@temporalio/workflow'
import type { Run } from '../run.js'

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
    if (!isFinished(result)) await compensateCalls(run)
    return result
  } catch (thrown) {
    if (!(thrown instanceof ContinueAsNew)) await compensateCalls(run)
    throw thrown
  }
}

/** Also in a cancelled run. Does nothing when there is nothing to compensate. */
export async function compensateCalls(run: Run): Promise<void> {
  if (run.compensations.size > 0) await CancellationScope.nonCancellable(() => run.compensations.compensateAll(run))
}
