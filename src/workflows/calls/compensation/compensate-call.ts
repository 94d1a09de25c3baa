import { ActivityFailure, scheduleActivity, workflowInfo } from '@temporalio/workflow'
import { callerIdentity, lostWorkerRetries } from '../../../common/calls/calls.js'
import {
  type CompensableCall,
  type CompensateInput,
  compensationAttempts,
  type CompensationFailure,
} from '../../../common/calls/compensation.js'
import { callActivityId, compensationActivity, compensationActivityId, toolQueue } from '../../../common/names.js'
import { toOneLine, toTemporalSummary } from '../../../common/text/text.js'
import { attemptsWithoutTool, priorityOf, retryPolicyOf, timeoutMarginMs } from '../call-options.js'
import { showCall } from '../../run/progress.js'
import type { Run } from '../../run/run.js'

/**
 * Compensates one call.
 *
 * @returns why the effect of the call is still there; undefined when it was compensated
 */
export async function compensateCall(run: Run, call: CompensableCall): Promise<CompensationFailure | undefined> {
  const { tool: name, position, idempotencyKey } = call
  const summary = `compensate ${call.summary}`
  const closeCall = showCall(run, compensationActivityId(position), summary)
  try {
    await schedule(run, call, toTemporalSummary(summary))
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof ActivityFailure)) throw thrown
    const message = toOneLine(thrown.cause?.message ?? thrown.message)
    return { tool: name, call: callActivityId(position), idempotencyKey, message }
  } finally {
    closeCall()
  }
}

async function schedule(run: Run, call: CompensableCall, summary: string): Promise<void> {
  const tool = run.tools.get(call.tool)
  // The tools of a run do not change, so this does not happen.
  if (!tool) return
  const input: CompensateInput = { ...call, ...callerIdentity(run.config) }
  await scheduleActivity(compensationActivity(tool.name), [input], {
    taskQueue: toolQueue(workflowInfo().taskQueue, tool),
    activityId: compensationActivityId(call.position),
    summary,
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.config.timeouts.heartbeatMs,
    ...priorityOf(run, tool),
    retry: retryPolicyOf(tool, compensationAttempts(tool.attempts) + lostWorkerRetries + attemptsWithoutTool),
  })
}
