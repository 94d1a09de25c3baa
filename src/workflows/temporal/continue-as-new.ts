import {
  CancellationScope,
  CancelledFailure,
  makeContinueAsNewFunc,
  type Workflow,
  workflowInfo,
} from '@temporalio/workflow'
import { memoKeys } from '../../common/names.js'

/**
 * Ends this history; the run goes on in a fresh one. Its memo says when it began, which a list of runs could not know.
 *
 * @throws CancelledFailure when the run is cancelled: the fresh history would know nothing of it, and nobody would say it again
 */
export function continueAsNew<Type extends Workflow>(...args: Parameters<Type>): Promise<never> {
  if (isCancelled(CancellationScope.current())) throw new CancelledFailure('the run was cancelled')
  const { memo, startTime } = workflowInfo()
  return makeContinueAsNewFunc<Type>({ memo: { [memoKeys.startedAt]: startTime.toISOString(), ...memo } })(...args)
}

/** A scope hears of the cancellation of another around it a moment later. */
function isCancelled({ consideredCancelled, parent }: CancellationScope): boolean {
  return consideredCancelled || (parent !== undefined && isCancelled(parent))
}
