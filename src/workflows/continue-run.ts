import { makeContinueAsNewFunc, type Workflow, workflowInfo } from '@temporalio/workflow'

/** Ends this history; the run goes on in a fresh one. Its memo says when it began, which a list of runs could not know. */
export function continueRun<Type extends Workflow>(...args: Parameters<Type>): Promise<never> {
  const { memo, startTime } = workflowInfo()
  return makeContinueAsNewFunc<Type>({ memo: { startedAt: startTime.toISOString(), ...memo } })(...args)
}
