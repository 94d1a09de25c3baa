import { activityInfo } from '@temporalio/activity'
import { encodeCompletionToken } from '../../common/calls/completion-token.js'
import type { DeferredInput } from '../../common/calls/deferred-calls.js'

/** Returns the token that completes a call of the workflow of this activity. */
export function completionTokenOf(idempotencyKey: string, deferred: DeferredInput): string {
  const { namespace, workflowExecution } = activityInfo()
  const workflowId = workflowExecution?.workflowId ?? ''
  return encodeCompletionToken({ namespace, workflowId, idempotencyKey, ...deferred })
}
