import { scheduleActivity } from '@temporalio/workflow'
import { deriveIdempotencyKey } from '../../common/call-identity.js'
import { lostWorkerRetries, type Caller, type CallPosition, type ToolCallInput } from '../../common/calls.js'
import type { JsonValue } from '../../common/json.js'
import { callActivityId } from '../../common/names.js'
import { type CallOutcome, workerShutdownFailureType } from '../../common/outcomes.js'
import type { ToolConfig } from '../../common/run-config.js'
import type { DescribedCall } from '../../common/steps.js'
import { toTemporalSummary } from '../../common/text.js'
import { refOf } from '../../common/external-value.js'
import { toCallOutcome } from './call-outcome.js'
import { onRoleQueue } from '../temporal/activities.js'
import { type Run, isStorageExhausted } from '../run.js'

/** Attempts on workers that do not have the tool: they hand the call back, and give it up after ten minutes. */
const attemptsWithoutTool = 200

/** Lost attempts of a `once` tool are not repeated. */
const lostWorkerFailures = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose', workerShutdownFailureType]

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
  const { limits } = run.config
  if (call.refused) return call.refused
  const tool = run.tools.get(call.tool)
  if (!tool) return denied(`there is no tool named ${call.tool.slice(0, 100)}`)
  if (!tool.allowedCallers.includes(caller))
    return denied(`${call.tool} may not be called by ${callerDescriptions[caller]}`)
  if (run.quota.calls >= limits.callsPerRun) return denied(`the run has used up its ${limits.callsPerRun} tool calls`)
  if (isStorageExhausted(run)) return denied(`the run has used up the ${limits.storedBytes} bytes it may store`)
  run.quota.calls += 1
  run.counts.toolCalls += 1
  try {
    const input: ToolCallInput = {
      tool: call.tool,
      caller,
      position,
      idempotencyKey: deriveIdempotencyKey(run.identity, position, call.digest),
      arguments: call.arguments,
    }
    const value = await scheduleToolActivity(run, tool, input, call.summary)
    run.stored.bytes += refOf(value)?.bytes ?? 0
    return { status: 'ok', value }
  } catch (thrown) {
    return toCallOutcome(thrown, tool)
  }
}

function scheduleToolActivity(run: Run, tool: ToolConfig, input: ToolCallInput, summary: string): Promise<JsonValue> {
  const { argumentBytes, resultBytes } = run.config.limits
  const { inputDigest } = tool
  const call = { ...input, limits: { argumentBytes, resultBytes }, inputDigest }
  return scheduleActivity<JsonValue>(tool.name, [call], {
    ...onRoleQueue('tools'),
    activityId: callActivityId(input.position),
    summary: toTemporalSummary(summary),
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.config.timeouts.heartbeatMs,
    cancellationType: 'TRY_CANCEL',
    retry: {
      initialInterval: '500ms',
      maximumInterval: '30s',
      // The worker that runs the tool keeps to the tool's own attempts.
      maximumAttempts: tool.attempts + lostWorkerRetries + attemptsWithoutTool,
      ...(tool.effect === 'once' && { nonRetryableErrorTypes: lostWorkerFailures }),
    },
  })
}

const callerDescriptions = {
  direct: 'the model directly, only from code',
  code_execution: 'code',
} as const satisfies Record<Caller, string>

function denied(message: string): CallOutcome {
  return { status: 'denied', message }
}
