import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  scheduleActivity,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow'
import { deriveIdempotencyKey, signCall } from '../../common/calls/call-identity.js'
import {
  type Caller,
  callerIdentity,
  type CallPosition,
  type FollowedCall,
  type FollowUpInput,
  lostWorkerRetries,
  type ToolActivityInput,
} from '../../common/calls/calls.js'
import type { DeferredConfig } from '../../common/calls/deferred-calls.js'
import type { ErrorCode } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { defaultLimits } from '../../common/runs/limits.js'
import { callActivityId, callWorkflowId, toolQueue } from '../../common/names.js'
import {
  type CallOutcome,
  isLostWorkerFailure,
  lostWorkerFailureTypes,
  outcomeUnknown,
  toCallStatus,
} from '../../common/calls/outcomes.js'
import type { ToolConfig } from '../../common/runs/tool-config.js'
import type { DescribedCall, FollowUpStep } from '../../common/session/steps.js'
import { pluralize, toTemporalSummary, takeStart } from '../../common/text/text.js'
import { refOf } from '../../common/json/external-value.js'
import { showCall } from '../run/progress.js'
import { type Run, isStorageExhausted } from '../run/run.js'
import { announceClientCall } from '../temporal/activities.js'
import { payloadBytes } from '../run/stored-bytes.js'
import { attemptsWithoutTool, priorityOf, retryPolicyOf, timeoutMarginMs } from './call-options.js'
import { callRemoteTool, isRemote } from './remote/remote-call.js'

/** Failures of an attempt that was lost with its worker. They are not retried for `effect: 'once'`. */
const lostWorkerFailures = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose', ...lostWorkerFailureTypes]

export interface CalledTool {
  readonly outcome: CallOutcome
  readonly followUps: readonly FollowUpStep[]
}

/**
 * Executes one tool call as an activity with the name of the tool, or as a call of a remote tool, or refuses it. Every
 * failure is an outcome for the model or its code.
 */
export async function callTool(
  run: Run,
  call: DescribedCall,
  caller: Caller,
  position: CallPosition,
  followUp?: FollowUpInput,
): Promise<CalledTool> {
  const tool = admitCall(run, call, caller)
  if ('status' in tool) return { outcome: tool, followUps: [] }
  const { argumentBytes, resultBytes } = run.config.limits
  const isDefault = argumentBytes === defaultLimits.argumentBytes && resultBytes === defaultLimits.resultBytes
  const input: ToolActivityInput = {
    tool: call.tool,
    caller,
    position,
    idempotencyKey: deriveIdempotencyKey(run.identity, position, call.digest),
    arguments: call.arguments,
    ...callerIdentity(run.config),
    ...(isDefault ? {} : { limits: { argumentBytes, resultBytes } }),
    inputDigest: tool.inputDigest,
    // The slot of a tool with a limit must not be held for the next steps of the code, and an approval takes long.
    ...(followUp &&
      tool.effect !== 'once' &&
      tool.concurrency === undefined &&
      tool.approval === undefined && { followUp }),
  }
  const closeCall = showCall(run, callActivityId(position), shownSummary(tool, call.summary, input.idempotencyKey))
  const { tool: name, idempotencyKey } = input
  const compensable = { tool: name, caller, position, idempotencyKey, arguments: call.arguments, summary: call.summary }
  const inProgress = isCompensable(run, tool) ? run.compensations.begin(compensable) : undefined
  try {
    if (tool.deferred) return await startDeferredCall(run, call, tool, tool.deferred, input)
    if (isRemote(tool)) return { outcome: await callRemoteTool(run, tool, call, { caller, position }), followUps: [] }
    const { value, followUps } = followedCall(input, await scheduleToolActivity(run, tool, input, call.summary))
    run.stored.bytes += (refOf(value)?.bytes ?? 0) + payloadBytes(followUps)
    inProgress?.succeed(value)
    return { outcome: { status: 'ok', value }, followUps }
  } catch (thrown) {
    inProgress?.fail(thrown)
    return { outcome: toCallOutcome(thrown, tool), followUps: [] }
  } finally {
    closeCall()
  }
}

/** Adds the id of the run to the summary of a call that starts a sub-agent. */
function shownSummary(tool: ToolConfig, summary: string, idempotencyKey: string): string {
  if (tool.remote?.kind !== 'workflow' || tool.remote.agent === undefined) return summary
  return `${summary} (run ${callWorkflowId(tool.name, idempotencyKey)})`
}

/**
 * Returns whether a call may have to be compensated. Named sessions and workflows of users compensate no calls, because
 * they have no result that says whether their work is finished.
 */
function isCompensable({ kind }: Run, { compensates }: ToolConfig): boolean {
  return compensates === true && kind !== 'session' && kind !== 'embedded'
}

/**
 * Runs the activity of a deferred call. When it succeeds, `deferredCalls` has the call, and the outcome is not used.
 */
async function startDeferredCall(
  run: Run,
  call: DescribedCall,
  tool: ToolConfig,
  { expiresMs }: DeferredConfig,
  input: ToolActivityInput,
): Promise<CalledTool> {
  const { deferredCalls, config } = run
  const { idempotencyKey } = input
  const signature = signCall(config.completionSecret ?? '', idempotencyKey)
  const { firstExecutionRunId } = workflowInfo()
  deferredCalls.begin(input)
  try {
    const deferred = { ...input, deferred: { firstExecutionRunId, signature } }
    await (tool.isClientTool
      ? announceClientCall(deferred, config.timeouts, call.summary)
      : scheduleToolActivity(run, tool, deferred, call.summary))
    deferredCalls.startWaiting(idempotencyKey, expiresMs)
    return { outcome: { status: 'ok', value: null }, followUps: [] }
  } catch (thrown) {
    const completed = await deferredCalls.abandon(idempotencyKey)
    return { outcome: completed ?? toCallOutcome(thrown, tool), followUps: [] }
  }
}

/**
 * Returns the outcome of a call that a worker has made for a follow-up step, unless a limit of the run refuses the
 * call.
 */
export function acceptLocalCall(run: Run, call: DescribedCall, outcome: CallOutcome): CallOutcome {
  const tool = admitCall(run, call, 'code_execution')
  return 'status' in tool ? tool : outcome
}

/** Counts a call and returns its tool, or returns why the call must not run. */
function admitCall(run: Run, call: DescribedCall, caller: Caller): ToolConfig | CallOutcome {
  const tool = call.refused ?? findTool(run, call, caller)
  if ('status' in tool) return tool
  run.quota.calls += 1
  run.counts.toolCalls += 1
  return tool
}

/** Returns the tool of a call, or the reason why the call must not run. */
export function findTool(run: Run, call: DescribedCall, caller: Caller): ToolConfig | CallOutcome {
  const { callsPerRun, deferredCalls, compensations, storedBytes } = run.config.limits
  const tool = run.tools.get(call.tool)
  if (!tool) return denied(`there is no tool named ${takeStart(call.tool, 100)}`)
  if (!tool.allowedCallers.includes(caller))
    return denied(`${call.tool} may not be called by ${callerDescriptions[caller]}`)
  if (run.quota.calls >= callsPerRun) return denied(`the run has used up its ${callsPerRun} tool calls`)
  if ((tool.deferred || tool.approval) && run.deferredCalls.size >= deferredCalls)
    return denied(`a run may have ${pluralize(deferredCalls, 'deferred call')} at once`)
  if (isCompensable(run, tool) && run.compensations.size >= compensations)
    return denied(`a run may have ${pluralize(compensations, 'call')} that can be compensated`)
  if (isStorageExhausted(run)) return denied(`the run has used up the ${storedBytes} bytes it may store`)
  return tool
}

function scheduleToolActivity(
  run: Run,
  tool: ToolConfig,
  input: ToolActivityInput,
  summary: string,
): Promise<JsonValue> {
  return scheduleActivity<JsonValue>(tool.name, [input], {
    taskQueue: toolQueue(workflowInfo().taskQueue, tool),
    activityId: callActivityId(input.position),
    summary: toTemporalSummary(summary),
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.config.timeouts.heartbeatMs,
    // A call must have ended before it is compensated.
    cancellationType: isCompensable(run, tool) ? 'WAIT_CANCELLATION_COMPLETED' : 'TRY_CANCEL',
    ...priorityOf(run, tool),
    // The worker counts the tool's own attempts. These are more, for attempts that are lost with their worker.
    retry: retryPolicyOf(
      tool,
      tool.attempts + lostWorkerRetries + attemptsWithoutTool,
      tool.effect === 'once' ? lostWorkerFailures : [],
    ),
  })
}

/** Reads the result of the activity, which is the bare result of the call when there was no follow-up. */
function followedCall({ followUp }: ToolActivityInput, result: JsonValue): FollowedCall {
  return followUp ? (result as unknown as FollowedCall) : { value: result, followUps: [] }
}

const callerDescriptions = {
  direct: 'the model directly, only from code',
  code_execution: 'code',
} as const satisfies Record<Caller, string>

export function denied(message: string): CallOutcome {
  return { status: 'denied', message }
}

/** Converts the failure of the activity into the outcome of the call. */
function toCallOutcome(thrown: unknown, tool: ToolConfig): CallOutcome {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  if (cause instanceof ApplicationFailure && !isLostWorkerFailure(cause.type)) {
    const status = toCallStatus(cause.type ?? '')
    if (status === 'outcome_unknown') return outcomeUnknown(tool.name, cause.message)
    if (status === 'timed_out' && tool.effect === 'once') return outcomeUnknown(tool.name, 'it did not answer in time')
    if (tool.effect === 'once' && isOutcomeUnknownTo(cause.type ?? '')) return outcomeUnknown(tool.name, cause.message)
    return { status, message: cause.message }
  }
  if (tool.effect === 'once') return outcomeUnknown(tool.name, 'the worker that ran it was lost')
  if (cause instanceof TimeoutFailure || (cause instanceof ApplicationFailure && cause.type === workerLost))
    return { status: 'timed_out', message: `${tool.name} was lost with its worker, again and again` }
  return { status: 'tool_error', message: cause?.message ?? thrown.message }
}

/** True when the tool threw, or its result was lost. Only a `ToolError` says that the tool had no effect. */
function isOutcomeUnknownTo(code: string): boolean {
  return code === failed || code.startsWith('VALUE_')
}

const failed: ErrorCode = 'TOOL_FAILED'
const workerLost: ErrorCode = 'WORKER_LOST'
