import { type ActivityOptions, scheduleActivity, workflowInfo } from '@temporalio/workflow'
import { activityNames, type Role, roleQueue } from '../common/names.js'
import type { ModelTurnInput, ModelTurnResult, RunOptions } from '../common/runs.js'
import type { RunPlan, Timings } from '../common/plan.js'
import type {
  AdvanceAnswer,
  AdvanceInput,
  InterruptInput,
  OpenedSession,
  OpenInput,
  SessionRef,
} from '../common/steps.js'
import type { StepLimits } from '../common/limits.js'
import type { HeldText } from '../common/messages.js'
import type { SnapshotAnswer, SnapshotInput } from '../common/snapshots.js'
import { plural } from '../common/text.js'
import type { Append } from './journal.js'

/** How long a step may take beyond its code's own limit: connecting, sending, the last frame. */
const stepMarginMs = 30_000

/** How long a snapshot may take on its way into a sandbox, and to be read there. */
const restoreMs = 180_000

/** Attempts of the engine's own activities. What is wrong for good is not retried at all; see the error table. */
const engineRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  maximumAttempts: 10,
} as const

/** For a run that has something to lose: ten minutes, while a full disk is emptied or a daemon is mended. */
const patientAttempts = 25

/** Reads the configuration of the run; the only activity before there is a plan. */
export function planRun(options: RunOptions): Promise<RunPlan> {
  return run(activityNames.planRun, options, {
    ...on('workflow'),
    // Records the tools: the value store may be away for a while.
    startToCloseTimeout: '5m',
    heartbeatTimeout: '5s',
    retry: engineRetry,
    summary: 'read the configuration',
  })
}

/** One model call. */
export function modelTurn(input: ModelTurnInput, timings: Timings, summary: string): Promise<ModelTurnResult> {
  return run(activityNames.modelTurn, input, {
    ...on('model'),
    startToCloseTimeout: timings.modelMs,
    heartbeatTimeout: timings.heartbeatMs,
    retry: { ...engineRetry, initialInterval: '1s', maximumInterval: '60s' },
    summary,
  })
}

/** Makes a sandbox on any host that can. */
export function openSession(input: OpenInput, timings: Timings, summary: string): Promise<OpenedSession> {
  return run(activityNames.openSession, input, {
    ...on('sandbox'),
    startToCloseTimeout: timings.openMs,
    heartbeatTimeout: timings.heartbeatMs,
    // A sandbox that was made although the run is cancelled must be known, or nobody would close it.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: {
      ...engineRetry,
      maximumAttempts: input.after === 'nothing' ? engineRetry.maximumAttempts : patientAttempts,
    },
    summary,
  })
}

/** Runs one step on the session's own host. The one place that says how a step is carried out. */
export function advanceSession(
  input: AdvanceInput & { readonly limits: StepLimits },
  hostQueue: string,
  timings: Timings,
  summary: string,
): Promise<AdvanceAnswer> {
  return run(activityNames.advanceSession, input, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timings.hostMs,
    startToCloseTimeout:
      (1 + (input.recordedCells ?? 0)) * input.limits.cellSeconds * 1_000 +
      stepMarginMs +
      (input.recorded?.snapshot ? restoreMs : 0),
    heartbeatTimeout: timings.heartbeatMs,
    retry: engineRetry,
    summary,
  })
}

/** Keeps recorded steps outside of the history. */
export function appendJournal(timings: Timings): Append {
  return (to, lists) => {
    const steps = lists.reduce((sum, list) => sum + list.length, 0)
    return run(activityNames.appendJournal, { to, lists }, keeping(timings, `keep ${plural(steps, 'recorded step')}`))
  }
}

/** Puts printed output together that is kept elsewhere in parts. */
export function joinText(text: HeldText, timings: Timings): Promise<string> {
  return run(activityNames.joinText, text, keeping(timings, 'put the output together'))
}

/** What only moves values. The store may be away for a while. */
function keeping({ heartbeatMs }: Timings, summary: string): ActivityOptions {
  return { ...on('workflow'), startToCloseTimeout: '5m', heartbeatTimeout: heartbeatMs, retry: engineRetry, summary }
}

/** Interrupts the code of a step that is under way. To be cancelled when the step has ended: until then it is tried again. */
export function interruptSession(input: InterruptInput, hostQueue: string, { heartbeatMs }: Timings): Promise<void> {
  return run(activityNames.interruptSession, input, {
    taskQueue: hostQueue,
    startToCloseTimeout: '30s',
    heartbeatTimeout: heartbeatMs,
    retry: { initialInterval: '200ms', backoffCoefficient: 1.5, maximumInterval: '5s' },
    cancellationType: 'TRY_CANCEL',
    summary: 'interrupt the code',
  })
}

/** Puts a session's sandbox on its host's disk; false when it had to be removed instead. */
export function parkSession(session: SessionRef, hostQueue: string, timings: Timings): Promise<boolean> {
  return run(activityNames.parkSession, session, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timings.hostMs,
    startToCloseTimeout: timings.openMs,
    heartbeatTimeout: timings.heartbeatMs,
    retry: { ...engineRetry, maximumAttempts: 3 },
    summary: 'park the session',
  })
}

/** Keeps the state of a session outside of its sandbox. To be done without when that is not to be had soon. */
export function snapshotSession(input: SnapshotInput, hostQueue: string, timings: Timings): Promise<SnapshotAnswer> {
  return run(activityNames.snapshotSession, input, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timings.hostMs,
    startToCloseTimeout: input.seconds * 1_000 + stepMarginMs,
    heartbeatTimeout: timings.heartbeatMs,
    retry: { ...engineRetry, maximumAttempts: 2 },
    summary: `snapshot after ${plural(input.step, 'step')}`,
  })
}

/** Removes a session's sandbox; when its host is gone, that host's reaper does it. */
export function closeSession(session: SessionRef, hostQueue: string, timings: Timings, summary: string): Promise<void> {
  return run(activityNames.closeSession, session, {
    taskQueue: hostQueue,
    scheduleToStartTimeout: timings.hostMs,
    startToCloseTimeout: '30s',
    heartbeatTimeout: timings.heartbeatMs,
    retry: { ...engineRetry, maximumAttempts: 3 },
    summary,
  })
}

/** This workflow's queue for a role. */
export function on(role: Role): { readonly taskQueue: string } {
  return { taskQueue: roleQueue(workflowInfo().taskQueue, role) }
}

function run<Result>(activity: string, input: unknown, options: ActivityOptions): Promise<Result> {
  return scheduleActivity<Result>(activity, [input], options)
}
