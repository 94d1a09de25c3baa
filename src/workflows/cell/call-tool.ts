import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  scheduleActivity,
  TimeoutFailure,
} from '@temporalio/workflow'
import { deriveIdempotencyKey } from '../../common/call-identity.js'
import { lostWorkerRetries, type Caller, type CallPosition, type ToolCallInput } from '../../common/calls.js'
import type { ErrorCode } from '../../common/errors.js'
import type { JsonValue } from '../../common/json.js'
import { callActivityId } from '../../common/names.js'
import { type CallOutcome, toCallStatus, workerShutdownFailureType } from '../../common/outcomes.js'
import type { ToolConfig } from '../../common/run-config.js'
import type { DescribedCall } from '../../common/steps.js'
import { toTemporalSummary } from '../../common/text.js'
import { refOf } from '../../common/external-value.js'
import { onRoleQueue } from '../temporal/activities.js'
import { type Run, isStorageExhausted } from '../run.js'

/**
 * Attempts on workers without the tool. Such a worker returns the call for a retry, and rejects it after ten minutes.
 */
const attemptsWithoutTool = 200

/** Failures of an attempt that was lost with its worker. They are not retried for `effect: 'once'`. */
const lostWorkerFailures = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose', workerShutdownFailureType]

/**
 * Milliseconds between the timeout of the tool and that of its activity. The tool's typed timeout must come first. The
 * rest is for loading large arguments and storing a large result, while the value store may be unavailable for a while.
 */
const timeoutMarginMs = 10 * 60_000

/**
 * Executes one tool call as an activity with the name of the tool, or refuses it. Every failure is an outcome for the
 * model or its code. The caller holds a slot of `callSlots` until it has recorded the outcome.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
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
      // The worker counts the tool's own attempts. These are more, for attempts that are lost with their worker.
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

/** The outcome of a failed tool activity. */
function toCallOutcome(thrown: unknown, tool: ToolConfig): CallOutcome {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  if (cause instanceof ApplicationFailure && cause.type !== workerShutdownFailureType) {
    const status = toCallStatus(cause.type ?? '')
    if (status === 'outcome_unknown') return outcomeUnknown(tool, cause.message)
    if (status === 'timed_out' && tool.effect === 'once') return outcomeUnknown(tool, 'it did not answer in time')
    if (tool.effect === 'once' && isOutcomeUnknownTo(cause.type ?? '')) return outcomeUnknown(tool, cause.message)
    return { status, message: cause.message }
  }
  if (tool.effect === 'once') return outcomeUnknown(tool, 'the worker that ran it was lost')
  if (cause instanceof TimeoutFailure)
    return { status: 'timed_out', message: `${tool.name} was lost with its worker, again and again` }
  return { status: 'tool_error', message: cause?.message ?? thrown.message }
}

/** True when the tool threw, or its result was lost. Only a `ToolError` says that the tool had no effect. */
function isOutcomeUnknownTo(code: string): boolean {
  return code === failed || code.startsWith('VALUE_')
}

const failed: ErrorCode = 'TOOL_FAILED'

function outcomeUnknown(tool: ToolConfig, why: string): CallOutcome {
  return {
    status: 'outcome_unknown',
    message: `${tool.name} may or may not have happened: ${why}. It is not repeated by itself.`,
  }
}
