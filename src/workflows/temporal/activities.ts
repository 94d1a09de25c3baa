/*
 * The engine's own activities, and how each is scheduled. `calls/` schedules tool calls, and
 * `model-activities.ts` the activities that serve the model.
 *
 * Owns: task queues, timeouts, retry policies and summaries of these activities.
 * Boundary: one function for each activity. No function keeps state or interprets a result; the callers do.
 *
 * Invariants:
 * 1. Every activity has a start-to-close timeout, a heartbeat timeout, and a limit on its attempts. `session.interrupt`
 *    alone has no such limit: its caller cancels it.
 * 2. An activity that a host must execute has a schedule-to-start timeout, so that a lost host is noticed. Again
 *    `session.interrupt` is the exception.
 */

import { type ActivityOptions, ApplicationFailure, workflowInfo } from '@temporalio/workflow'
import type { BudgetPause } from '../../common/budget/budget.js'
import type { RequestApprovalInput, RequestApprovalResult } from '../../common/calls/approvals.js'
import type { ProviderMessage } from '../../common/conversation/conversation.js'
import type {
  AuditCallInput,
  PrepareArgumentsInput,
  ToolActivityInput,
  ToolResultInput,
} from '../../common/calls/call-activities.js'
import type { CompensableCall } from '../../common/calls/compensation.js'
import type { AnnounceQuestionInput, CheckAnswerInput, QuestionAnswer } from '../../common/calls/questions.js'
import type { StoreFilesInput, StoreFilesResult } from '../../common/files/files.js'
import { type Externalizable, type ExternalValue, externalValue } from '../../common/json/external-value.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { activityNames, callActivityId, clientToolRole, questionActivityId } from '../../common/names.js'
import { type Role, sandboxQueue } from '../../common/names.js'
import type { ValueLog, ValueLogSegment } from '../../common/json/value-log.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { RunConfig, Timeouts } from '../../common/run/run-config.js'
import type { ExecuteStepInput, RecordedStep, StepActivityResult } from '../../common/session/steps.js'
import type { InterruptInput, OpenedSession, OpenInput, SessionRef } from '../../common/session/session.js'
import type { StartSessionInput } from '../../common/session/shared-cells.js'
import { type SnapshotInput, type SnapshotResult, snapshotSeconds } from '../../common/session/snapshots.js'
import type { TextParts } from '../../common/agent/messages.js'
import type { RequestSlotInput } from '../../common/calls/tool-slots.js'
import { pluralize, toTemporalSummary } from '../../common/text/text.js'
import { defaultRetry, onRoleQueue, scheduleEngineActivity, valueOptions } from './schedule-activity.js'

/** Milliseconds a step may take beyond the time limit of its code: connecting, sending, the last frame. */
const stepMarginMs = 30_000

/** Milliseconds for opening or parking a sandbox. Images are ready before a worker starts. */
const openMs = 120_000

/** Milliseconds for storing the artifacts of a cell: a fixed time, and one byte in each microsecond. */
const storeFilesMs = ({ files, maxBytes }: StoreFilesInput): number =>
  300_000 +
  Math.min(
    maxBytes,
    files.reduce((total, { bytes }) => total + bytes, 0),
  ) /
    1_000

/** Milliseconds for transferring a snapshot into a sandbox and loading it there. */
const snapshotRestoreMs = 180_000

/**
 * Attempts of a rebuild, because the run would lose its variables: about ten minutes, for example while a full disk is
 * cleaned up.
 */
const rebuildAttempts = 25

/**
 * Retry policy while a backend is down. The attempts take most of an hour, and then the caller schedules the activity
 * again.
 */
const whileDown = { initialInterval: '10s', maximumAttempts: 100 } as const

/** Reads the configuration of the run: the first activity of every run. */
export function loadRunConfig(options: RunConfigInput): Promise<RunConfig> {
  return scheduleEngineActivity(activityNames.loadRunConfig, options, {
    ...onRoleQueue('workflow'),
    // The activity stores the tool set, and the value store may be unavailable for a while.
    startToCloseTimeout: '5m',
    heartbeatTimeout: '5s',
    retry: defaultRetry,
    summary: 'read the configuration',
  })
}

/**
 * Opens a sandbox on any host that has the backend. Waits without a limit for a worker that polls its queue.
 *
 * @param isDown the backend has been down for all attempts of the activity before
 */
export function openSession(
  input: OpenInput,
  timeouts: Timeouts,
  summary: string,
  isDown: boolean,
): Promise<OpenedSession> {
  return scheduleEngineActivity(activityNames.openSession, input, {
    taskQueue: sandboxQueue(workflowInfo().taskQueue, input.session.backend),
    startToCloseTimeout: openMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    // If the run is cancelled meanwhile, the workflow must still get the new sandbox, to close it.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: {
      ...defaultRetry,
      maximumAttempts: input.reason === 'new' ? defaultRetry.maximumAttempts : rebuildAttempts,
      ...(isDown && whileDown),
    },
    summary,
  })
}

/** Options of an activity that the host of a session executes. */
function hostOptions(hostQueue: string, { hostMs, heartbeatMs }: Timeouts, summary: string): ActivityOptions {
  return {
    taskQueue: hostQueue,
    scheduleToStartTimeout: hostMs, // invariant 2
    heartbeatTimeout: heartbeatMs,
    retry: defaultRetry,
    summary,
  }
}

/** Executes one step, or a rebuild, on the host of the session. */
export function executeStep(
  input: ExecuteStepInput,
  hostQueue: string,
  timeouts: Timeouts,
  summary: string,
): Promise<StepActivityResult> {
  return scheduleEngineActivity(activityNames.executeStep, input, {
    ...hostOptions(hostQueue, timeouts, summary),
    startToCloseTimeout:
      (1 + (input.cellsToRepeat ?? 0)) * input.limits.cellSeconds * 1_000 +
      stepMarginMs +
      (input.recorded?.snapshot ? snapshotRestoreMs : 0),
  })
}

/** Appends batches of steps to a log in the value store. Returns the log after each batch. */
export type AppendToLog = (
  log: ValueLog | null,
  batches: readonly (readonly RecordedStep[])[],
) => Promise<readonly ValueLog[]>

/** Moves recorded steps to the value store, so that the history stays small. */
export function appendJournal(timeouts: Timeouts): AppendToLog {
  return (log, batches) => {
    const steps = batches.reduce((sum, batch) => sum + batch.length, 0)
    return scheduleEngineActivity(
      activityNames.appendJournal,
      { log, batches },
      valueOptions(timeouts, `store ${pluralize(steps, 'recorded step')}`),
    )
  }
}

/** Stores the given messages as the history of a conversation. Content that is a string becomes a text block. */
export function storeMessages(messages: readonly ProviderMessage[], timeouts: Timeouts): Promise<ValueLog> {
  const stored = messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }))
  return startLog(stored, 'message', timeouts)
}

/** Stores calls that may have to be compensated later. */
export async function storeCalls(calls: readonly CompensableCall[], timeouts: Timeouts): Promise<ExternalValue> {
  const { head } = await startLog(calls, 'call', timeouts)
  return externalValue(head)
}

/** Stores items as the first batch of a log. */
async function startLog(items: readonly unknown[], noun: string, timeouts: Timeouts): Promise<ValueLog> {
  const input = { log: null, batches: [items] }
  const options = valueOptions(timeouts, `store ${pluralize(items.length, noun)}`)
  const [log]: readonly ValueLog[] = await scheduleEngineActivity(activityNames.appendJournal, input, options)
  if (!log) throw ApplicationFailure.nonRetryable(`the ${noun}s were not stored`, 'INTERNAL')
  return log
}

/** Loads calls from {@link storeCalls}. */
export async function loadCalls(value: ExternalValue, timeouts: Timeouts): Promise<readonly CompensableCall[]> {
  const options = valueOptions(timeouts, 'load calls to compensate')
  const segment: ValueLogSegment<CompensableCall> = await scheduleEngineActivity(
    activityNames.loadValue,
    value,
    options,
  )
  return segment.items
}

/** Joins the parts of an output. Some of them are external values. */
export function joinText(text: TextParts, timeouts: Timeouts): Promise<string> {
  return scheduleEngineActivity(activityNames.joinText, text, valueOptions(timeouts, 'join the output'))
}

export function loadValue(value: ExternalValue, timeouts: Timeouts): Promise<JsonValue> {
  return scheduleEngineActivity(activityNames.loadValue, value, valueOptions(timeouts, 'load a large result'))
}

/**
 * Checks a result against the tool's output schema, and stores a large one. Used for results that come from outside the
 * workers: from remote tools and deferred calls.
 */
export function checkToolResult(
  input: ToolResultInput,
  timeouts: Timeouts,
  role: Role = 'tools',
): Promise<Externalizable> {
  const options = valueOptions(timeouts, `check the result of ${input.tool}`, role)
  return scheduleEngineActivity(activityNames.checkToolResult, input, options)
}

/** Parses the arguments for a remote tool, which can't read the value store and does not know the schemas. */
export function prepareArguments(input: PrepareArgumentsInput, timeouts: Timeouts): Promise<JsonObject> {
  const options = valueOptions(timeouts, `prepare the arguments of ${input.tool}`, 'tools')
  return scheduleEngineActivity(activityNames.prepareArguments, input, options)
}

/** Reports an event to the audit log, for a call that no worker with a tool of the configuration can report. */
export function auditCallEvent(input: AuditCallInput, timeouts: Timeouts, role: Role = 'tools'): Promise<void> {
  const options = valueOptions(timeouts, `audit log: ${input.event.type} of ${input.tool}`, role)
  return scheduleEngineActivity(activityNames.auditCall, input, options)
}

export function requestApproval(
  input: RequestApprovalInput,
  timeouts: Timeouts,
  activityId: string,
): Promise<RequestApprovalResult> {
  const options = valueOptions(timeouts, toTemporalSummary(`approval of ${input.summary}`), 'tools')
  return scheduleEngineActivity(activityNames.requestApproval, input, { ...options, activityId })
}

/** Tells the live stream, and the readers of the history, that a call asks people. */
export function announceQuestion(input: AnnounceQuestionInput, timeouts: Timeouts, summary: string): Promise<void> {
  const { position, number } = input
  const options = valueOptions(timeouts, toTemporalSummary(summary), 'tools')
  return scheduleEngineActivity(activityNames.announceQuestion, input, {
    ...options,
    activityId: questionActivityId(position, number),
  })
}

/** Checks the answer of a person against the schema of a question. */
export function checkAnswer(input: CheckAnswerInput, timeouts: Timeouts): Promise<QuestionAnswer> {
  const options = valueOptions(timeouts, `check the answer for ${input.tool}`, 'tools')
  return scheduleEngineActivity(activityNames.checkAnswer, input, options)
}

export function announceClientCall(input: ToolActivityInput, timeouts: Timeouts, summary: string): Promise<JsonValue> {
  const options = valueOptions(timeouts, toTemporalSummary(summary), clientToolRole)
  return scheduleEngineActivity(activityNames.clientCall, input, {
    ...options,
    activityId: callActivityId(input.position),
  })
}

/** Publishes in the live stream that the budget is spent. Few attempts are enough, because the run pauses anyway. */
export function announcePause(pause: BudgetPause, timeouts: Timeouts): Promise<void> {
  return scheduleEngineActivity(activityNames.announcePause, pause, {
    ...valueOptions(timeouts, 'tell the live stream that the budget is spent', 'workflow'),
    scheduleToCloseTimeout: '30s',
    retry: { ...defaultRetry, maximumAttempts: 3 },
  })
}

/** Requests a slot of a tool with a concurrency limit. The answer is a signal. */
export function requestSlot(input: RequestSlotInput, timeouts: Timeouts): Promise<void> {
  return scheduleEngineActivity(activityNames.requestSlot, input, {
    ...valueOptions(timeouts, `request a slot of ${input.tool}`),
    startToCloseTimeout: '1m',
  })
}

/** Starts a named session, unless it runs. Returns its run id. */
export function startSession(input: StartSessionInput, timeouts: Timeouts): Promise<string> {
  return scheduleEngineActivity(activityNames.startSession, input, {
    ...valueOptions(timeouts, `start session ${input.session.name}, unless it runs`),
    startToCloseTimeout: '1m',
    // A run that is cancelled meanwhile must still end the session.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  })
}

/**
 * Interrupts the code of a step in progress. The activity is retried until the step ends; then the caller cancels it.
 */
export function interruptSession(input: InterruptInput, hostQueue: string, { heartbeatMs }: Timeouts): Promise<void> {
  return scheduleEngineActivity(activityNames.interruptSession, input, {
    taskQueue: hostQueue,
    startToCloseTimeout: '30s',
    heartbeatTimeout: heartbeatMs,
    retry: { initialInterval: '200ms', backoffCoefficient: 1.5, maximumInterval: '5s' }, // invariant 1
    cancellationType: 'TRY_CANCEL',
    summary: 'interrupt the code',
  })
}

/** Keeps the sandbox of a session as a checkpoint on its host. Returns false when the host removed the sandbox. */
export function parkSession(session: SessionRef, hostQueue: string, timeouts: Timeouts): Promise<boolean> {
  return scheduleEngineActivity(activityNames.parkSession, session, {
    ...hostOptions(hostQueue, timeouts, 'park the session'),
    startToCloseTimeout: openMs,
    retry: { ...defaultRetry, maximumAttempts: 3 },
  })
}

/**
 * Stores the state of a session in the value store. Few attempts are enough, because the session also works without a
 * snapshot.
 */
export function snapshotSession(input: SnapshotInput, hostQueue: string, timeouts: Timeouts): Promise<SnapshotResult> {
  return scheduleEngineActivity(activityNames.snapshotSession, input, {
    ...hostOptions(hostQueue, timeouts, `snapshot after ${pluralize(input.step, 'step')}`),
    startToCloseTimeout: snapshotSeconds * 1_000 + stepMarginMs,
    retry: { ...defaultRetry, maximumAttempts: 2 },
  })
}

/** Stores files of a session's sandbox in the value store. */
export function storeFiles(input: StoreFilesInput, hostQueue: string, timeouts: Timeouts): Promise<StoreFilesResult> {
  return scheduleEngineActivity(activityNames.storeFiles, input, {
    ...hostOptions(hostQueue, timeouts, `store ${pluralize(input.files.length, 'file')}`),
    startToCloseTimeout: storeFilesMs(input),
  })
}

/** Removes the sandbox of a session. If its host does not answer, the reaper of that host removes it. */
export function closeSession(
  session: SessionRef,
  hostQueue: string,
  timeouts: Timeouts,
  summary: string,
): Promise<void> {
  return scheduleEngineActivity(activityNames.closeSession, session, {
    ...hostOptions(hostQueue, timeouts, summary),
    startToCloseTimeout: '30s',
    retry: { ...defaultRetry, maximumAttempts: 3 },
  })
}
