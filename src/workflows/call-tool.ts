import { scheduleActivity } from '@temporalio/workflow'
import { callKey } from '../common/call-key.js'
import type { Caller, CallPosition, ToolCallInput } from '../common/calls.js'
import type { JsonValue } from '../common/json.js'
import { callActivityId } from '../common/names.js'
import type { CallOutcome } from '../common/outcomes.js'
import type { ToolPlan } from '../common/plan.js'
import type { DescribedCall } from '../common/steps.js'
import { fitSummary } from '../common/text.js'
import { toCallOutcome } from './call-outcome.js'
import { on } from './engine.js'
import type { Run } from './run.js'

/** Attempts beyond a tool's own, for workers that die under it. */
const attemptsForLostWorkers = 5

/**
 * The activity's limit lies behind the tool's own, so that the tool's typed timeout is the one that is seen; and far behind it,
 * since arguments and result may be large, and the store that keeps them away for a while.
 */
const timeoutMarginMs = 10 * 60_000

/**
 * Serves one tool call: refuses it, or runs it as an activity under the tool's own name. Every way to fail is an outcome for
 * the caller; only cancellation of the run is thrown. Who calls this holds a slot until the outcome is recorded.
 */
export async function callTool(
  run: Run,
  call: DescribedCall,
  caller: Caller,
  position: CallPosition,
): Promise<CallOutcome> {
  const { limits } = run.plan
  if (call.refused) return call.refused
  const tool = run.tools.get(call.tool)
  if (!tool) return denied(`there is no tool named ${call.tool}`)
  if (!tool.allowedCallers.includes(caller)) return denied(`${call.tool} may not be called by ${callerInWords[caller]}`)
  if (run.quota.calls >= limits.callsPerRun) return denied(`the run has used up its ${limits.callsPerRun} tool calls`)
  run.quota.calls += 1
  run.counts.toolCalls += 1
  try {
    const input: ToolCallInput = {
      tool: call.tool,
      caller,
      position,
      idempotencyKey: callKey(run.identity, position, call.digest),
      arguments: call.arguments,
    }
    return { status: 'ok', value: await runAsActivity(run, tool, input, call.summary) }
  } catch (thrown) {
    return toCallOutcome(thrown, tool)
  }
}

function runAsActivity(run: Run, tool: ToolPlan, input: ToolCallInput, summary: string): Promise<JsonValue> {
  const { argumentBytes, resultBytes } = run.plan.limits
  return scheduleActivity<JsonValue>(tool.name, [{ ...input, limits: { argumentBytes, resultBytes } }], {
    ...on('tools'),
    activityId: callActivityId(input.position),
    summary: fitSummary(summary),
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.plan.timings.heartbeatMs,
    cancellationType: 'TRY_CANCEL',
    retry: {
      initialInterval: '500ms',
      maximumInterval: '30s',
      maximumAttempts: tool.effect === 'once' ? 1 : tool.attempts + attemptsForLostWorkers,
    },
  })
}

const callerInWords = {
  direct: 'the model directly, only from code',
  code_execution: 'code',
} as const satisfies Record<Caller, string>

function denied(message: string): CallOutcome {
  return { status: 'denied', message }
}
