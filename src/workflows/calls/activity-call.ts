import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  scheduleActivity,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow'
import { callerIdentity, lostWorkerRetries } from '../../common/calls/calls.js'
import type { FollowedCall, ToolActivityInput } from '../../common/calls/call-activities.js'
import {
  type CallOutcome,
  isLostWorkerFailure,
  lostWorkerFailureTypes,
  outcomeOfFailure,
  outcomeUnknown,
} from '../../common/calls/outcomes.js'
import type { CallAnswers } from '../../common/calls/questions.js'
import { defined } from '../../common/defined.js'
import { refOf } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import { callActivityId, toolQueue } from '../../common/names.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { toTemporalSummary } from '../../common/text/text.js'
import { hasFailedWith } from '../temporal/failures.js'
import { bytesOfFiles, payloadBytes } from '../run/stored-bytes.js'
import { attemptsWithoutTool, priorityOf, retryPolicyOf, timeoutMarginMs } from './call-options.js'
import type { AdmittedCall } from './run-call.js'

/** Failures of an attempt that was lost with its worker. They are not retried for `effect: 'once'`. */
const lostWorkerFailures = ['TemporalTimeout:Heartbeat', 'TemporalTimeout:StartToClose', ...lostWorkerFailureTypes]

/**
 * Executes a call as an activity with the name of the tool.
 *
 * @param answers of people to the questions of earlier executions of the call
 * @throws ActivityFailure, CancelledFailure
 */
export async function callActivity(call: AdmittedCall, answers?: CallAnswers): Promise<CallOutcome> {
  const { effect, approval } = call.tool
  // An approval takes long.
  // After a question, the session may have been parked meanwhile.
  // The sandbox gets a file before the step that delivers its path.
  const { returnsFile } = call.tool
  const isAlone = approval !== undefined || call.needsApproval || answers !== undefined || returnsFile === true
  const followUp = effect === 'once' || isAlone ? undefined : call.followUp
  const withLabels = call.calls.dataFlow.labelsResults(call.tool.name)
  const asked = { ...defined({ followUp: followUp?.input, answers, returnsFile }), ...(withLabels && { withLabels }) }
  const execute = () => scheduleToolActivity(call, { ...toolInput(call), ...asked })
  if (returnsFile) return callFileTool(call, execute)
  const result = await (call.tool.samples ? call.calls.sampling.during(call, execute) : execute())
  // Without a follow-up or labels, the result of the activity is the bare result of the call.
  const isBare = !followUp && !withLabels
  const followed = isBare ? { value: result, followUps: [] } : (result as unknown as FollowedCall)
  const { value, followUps, labels } = followed
  call.computedLabels = labels
  call.run.addStoredBytes((refOf(value)?.bytes ?? 0) + payloadBytes(followUps))
  const outcome = { status: 'ok', value } as const
  followUp?.record(outcome, followUps)
  return outcome
}

/** Executes a call whose result is a file. The run has the file from then on, whatever becomes of the caller. */
async function callFileTool(call: AdmittedCall, execute: () => Promise<JsonValue>): Promise<CallOutcome> {
  const { run, tool, calls, position } = call
  const result = await run.files.whileReturning(execute)
  const { value, labels, file } = result as unknown as FollowedCall
  call.computedLabels = labels
  if (!file) return { status: 'tool_error', message: `${tool.name} has returned no file` }
  run.addStoredBytes(bytesOfFiles([file]))
  const ofFile = calls.dataFlow.labelsOfResult({ tool: tool.name, turn: position.turn }, labels)
  calls.dataFlow.addFile(ofFile)
  run.files.addReturned(file, calls.dataFlow.decide('answer', ofFile).action === 'allow')
  return { status: 'ok', value, file }
}

export function toolInput(call: AdmittedCall): ToolActivityInput {
  const { config } = call.run
  const { argumentBytes, resultBytes, tmpBytes } = config.limits
  return {
    ...call.input,
    ...callerIdentity(config),
    limits: {
      argumentBytes,
      resultBytes,
      ...(call.tool.returnsFile && { tmpBytes }),
      ...(isForModel(call) && { images: call.run.files.imagesLeft }),
    },
    inputDigest: call.tool.inputDigest,
  }
}

/** Whether a model gets the result with its next message, which may have images. */
function isForModel({ caller, run: { kind, isHosted, config } }: AdmittedCall): boolean {
  const hasModel = kind === 'agent' || kind === 'conversation'
  // A message with results for code at the API has nothing else.
  return caller === 'direct' && hasModel && !isHosted && config.mode !== 'single-turn'
}

export function scheduleToolActivity(call: AdmittedCall, input: ToolActivityInput): Promise<JsonValue> {
  const { run, tool, position } = call
  return scheduleActivity<JsonValue>(tool.name, [input], {
    taskQueue: toolQueue(workflowInfo().taskQueue, tool),
    activityId: callActivityId(position),
    summary: toTemporalSummary(call.described.summary),
    startToCloseTimeout: tool.timeoutMs + timeoutMarginMs,
    heartbeatTimeout: run.config.timeouts.heartbeatMs,
    // A call must have ended before it is compensated.
    cancellationType: call.isCompensable ? 'WAIT_CANCELLATION_COMPLETED' : 'TRY_CANCEL',
    ...priorityOf(run, tool),
    // The worker counts the tool's own attempts. These are more, for attempts that are lost with their worker.
    retry: retryPolicyOf(
      tool,
      tool.attempts + lostWorkerRetries + attemptsWithoutTool,
      tool.effect === 'once' ? lostWorkerFailures : [],
    ),
  })
}

/**
 * Returns the outcome of a call whose activity has failed.
 *
 * @throws cancellations, and what is not the failure of an activity
 */
export function failureOutcome(thrown: unknown, tool: ToolConfig): CallOutcome {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  const { name, effect } = tool
  if (cause instanceof ApplicationFailure && !isLostWorkerFailure(cause.type))
    return outcomeOfFailure(tool, cause.type, cause.message)
  if (effect === 'once') return outcomeUnknown(name, 'the worker that ran it was lost')
  if (cause instanceof TimeoutFailure || hasFailedWith(thrown, 'WORKER_LOST'))
    return { status: 'timed_out', message: `${name} was lost with its worker, again and again` }
  return { status: 'tool_error', message: cause?.message ?? thrown.message }
}
