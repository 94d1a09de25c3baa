import { workflowInfo } from '@temporalio/workflow'
import { isQuestion } from '../../common/calls/deferred-calls.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import { announceClientCall } from '../temporal/activities.js'
import { scheduleToolActivity, toolInput } from './activity-call.js'
import type { AdmittedCall } from './run-call.js'
import { outcomeOf } from './waiting-calls.js'

/**
 * Executes a call that gets its result later. Its activity hands out the token, or announces the call of a client tool.
 *
 * @throws ActivityFailure, CancelledFailure
 */
export async function callDeferredTool(call: AdmittedCall): Promise<CallOutcome> {
  const { waiting, completions } = call.calls
  const waitingCall = waiting.add(call.input)
  // In the execution before this one the call may have begun to wait.
  if (!call.calls.awaitsResult(call)) {
    waiting.apply(waitingCall, { type: 'announce' })
    try {
      await announce(call)
      const since = Date.now()
      waiting.apply(waitingCall, { type: 'wait', since, expiresAt: since + (call.tool.deferred?.expiresMs ?? 0) })
    } catch (thrown) {
      await completions.waitWhileDeciding(waitingCall)
      const outcome = outcomeOf(waitingCall)
      if (outcome) return outcome
      throw thrown
    }
  }
  call.freeSlot()
  const { state } = waitingCall
  if ('expiresAt' in state) {
    const { since, expiresAt } = state
    call.report({ for: isQuestion(call.described.arguments) ? 'answer' : 'result', since, expiresAt })
  }
  return waiting.waitForOutcome(waitingCall)
}

function announce(call: AdmittedCall): Promise<unknown> {
  const { config } = call.run
  const signature = call.calls.completions.sign(call.idempotencyKey)
  const { firstExecutionRunId } = workflowInfo()
  const input = { ...toolInput(call), deferred: { firstExecutionRunId, signature } }
  return call.tool.isClientTool
    ? announceClientCall(input, config.timeouts, call.described.summary)
    : scheduleToolActivity(call, input)
}
