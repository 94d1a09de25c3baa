import { type ActivityOptions, scheduleActivity, workflowInfo } from '@temporalio/workflow'
import { activityNames, type Role, roleQueue } from '../../common/names.js'
import type { ModelTurnInput, ModelTurnResult } from '../../common/model-turn.js'
import type { RunOptions } from '../../common/runs.js'
import type { RunConfig, Timeouts } from '../../common/run-config.js'
import type { ExecuteStepResult, ExecuteStepInput } from '../../common/steps.js'
import type { InterruptInput, OpenedSession, OpenInput, SessionRef } from '../../common/session.js'
import type { SnapshotResult, SnapshotInput } from '../../common/snapshots.js'
import type { StepLimits } from '../../common/limits.js'
import type { TextParts } from '../../common/messages.js'
import { pluralize } from '../../common/text.js'
import type { AppendToLog } from '../session/journal.js'

/** How long a step may take beyond its code's own limit: connecting, sending, the last frame. */
const stepMarginMs = 30_000

/** How long a snapshot may take on its way into a sandbox, and to be read there. */
const snapshotRestoreMs = 180_000

/** Attempts of the engine's own activities. What is wrong for good is not retried at all; see the error table. */
const defaultRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  maximumAttempts: 10,
} as const

/** For a run that has something to lose: ten minutes, while a full disk is emptied or a daemon is mended. */
const rebuildAttempts = 25

/** Reads the configuration of the run; the only activity before there is a plan. */
export function loadRunConfig(options: RunOptions): Promise<RunConfig> {
  return scheduleEngineActivity(activityNames.loadRunConfig, options, {
    ...onRoleQueue('workflow'),
    // Records the tools: the value store may be away for a while.
    startToCloseTimeout: '5m',
    heartbeatTimeout: '5s',
    retry: defaultRetry,
    summary: 'read the configuration',
  })
}

/** One model call. */
export function modelTurn(input: ModelTurnInput, timeouts: Timeouts, summary: string): Promise<ModelTurnResult> {
  return scheduleEngineActivity(activityNames.modelTurn, input, {
    ...onRoleQueue('model'),
    startToCloseTimeout: timeouts.modelMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { ...defaultRetry, initialInterval: '1s', maximumInterval: '60s' },
    summary,
  })
}

/** Makes a sandbox on any host that can. */
export function openSession(input: OpenInput, timeouts: Timeouts, summary: string): Promise<OpenedSession> {
  return scheduleEngineActivity(activityNames.openSession, input, {
    ...onRoleQueue('sandbox'),
    startToCloseTimeout: timeouts.openMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    // A sandbox that was made although the run is cancelled must be known, or nobody would close it.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: {
      ...defaultRetry,
      maximumAttempts: input.reason === 'new' ? defaultRetry.maximumAttempts : rebuildAttempts,
    },
    summary,
  })
}

/** Runs one step on the session's own host. The one place that says how a step is carried out. */
export function executeStep(
  input: ExecuteStepInput & { readonly limits: StepLimits },
  hostQueue: string,
  timeouts: Timeouts,
  summary: string,
): Promise<ExecuteStepResult> {
  return scheduleEngineActivity(activityNames.executeStep, input, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timeouts.hostMs,
    startToCloseTimeout:
      (1 + (input.cellsToRepeat ?? 0)) * input.limits.cellSeconds * 1_000 +
      stepMarginMs +
      (input.recorded?.snapshot ? snapshotRestoreMs : 0),
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: defaultRetry,
    summary,
  })
}

/** Keeps recorded steps outside of the history. */
export function appendJournal(timeouts: Timeouts): AppendToLog {
  return (to, lists) => {
    const steps = lists.reduce((sum, list) => sum + list.length, 0)
    return scheduleEngineActivity(
      activityNames.appendJournal,
      { log: to, batches: lists },
      valueOptions(timeouts, `keep ${pluralize(steps, 'recorded step')}`),
    )
  }
}

/** Puts printed output together that is kept elsewhere in parts. */
export function joinText(text: TextParts, timeouts: Timeouts): Promise<string> {
  return scheduleEngineActivity(activityNames.joinText, text, valueOptions(timeouts, 'put the output together'))
}

/** What only moves values. The store may be away for a while. */
function valueOptions({ heartbeatMs }: Timeouts, summary: string): ActivityOptions {
  return {
    ...onRoleQueue('workflow'),
    startToCloseTimeout: '5m',
    heartbeatTimeout: heartbeatMs,
    retry: defaultRetry,
    summary,
  }
}

/** Interrupts the code of a step that is under way. To be cancelled when the step has ended: until then it is tried again. */
export function interruptSession(input: InterruptInput, hostQueue: string, { heartbeatMs }: Timeouts): Promise<void> {
  return scheduleEngineActivity(activityNames.interruptSession, input, {
    taskQueue: hostQueue,
    startToCloseTimeout: '30s',
    heartbeatTimeout: heartbeatMs,
    retry: { initialInterval: '200ms', backoffCoefficient: 1.5, maximumInterval: '5s' },
    cancellationType: 'TRY_CANCEL',
    summary: 'interrupt the code',
  })
}

/** Puts a session's sandbox on its host's disk; false when it had to be removed instead. */
export function parkSession(session: SessionRef, hostQueue: string, timeouts: Timeouts): Promise<boolean> {
  return scheduleEngineActivity(activityNames.parkSession, session, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timeouts.hostMs,
    startToCloseTimeout: timeouts.openMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { ...defaultRetry, maximumAttempts: 3 },
    summary: 'park the session',
  })
}

/** Keeps the state of a session outside of its sandbox. To be done without when that is not to be had soon. */
export function snapshotSession(input: SnapshotInput, hostQueue: string, timeouts: Timeouts): Promise<SnapshotResult> {
  return scheduleEngineActivity(activityNames.snapshotSession, input, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timeouts.hostMs,
    startToCloseTimeout: input.timeoutSeconds * 1_000 + stepMarginMs,
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { ...defaultRetry, maximumAttempts: 2 },
    summary: `snapshot after ${pluralize(input.step, 'step')}`,
  })
}

/** Removes a session's sandbox; when its host is gone, that host's reaper does it. */
export function closeSession(
  session: SessionRef,
  hostQueue: string,
  timeouts: Timeouts,
  summary: string,
): Promise<void> {
  return scheduleEngineActivity(activityNames.closeSession, session, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timeouts.hostMs,
    startToCloseTimeout: '30s',
    heartbeatTimeout: timeouts.heartbeatMs,
    retry: { ...defaultRetry, maximumAttempts: 3 },
    summary,
  })
}

/** This workflow's queue for a role. */
export function onRoleQueue(role: Role): { readonly taskQueue: string } {
  return { taskQueue: roleQueue(workflowInfo().taskQueue, role) }
}

function scheduleEngineActivity<Result>(activity: string, input: unknown, options: ActivityOptions): Promise<Result> {
  return scheduleActivity<Result>(activity, [input], options)
}
