/** Reads the state of a workflow from its description and history, and waits for one. */
import type { WorkflowHandle } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'
import { expect, vi } from 'vitest'
import { fastPollOptions, pollOptions } from '../poll-options.js'
import { scheduledActivitiesOfType } from './histories.js'
import type { WorkerProcess } from './worker-process.js'

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent
type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo

/** An activity that has failed and is retried. */
export interface RetryingActivity {
  readonly activity: string
  readonly attempt: number
  /** A code of the error table, or `timeout`. */
  readonly code: string
  readonly message: string
}

/** Open activities of this type; default: of all types. */
export async function pendingActivities(handle: WorkflowHandle, type?: string): Promise<readonly PendingActivity[]> {
  const { raw } = await handle.describe()
  return (raw.pendingActivities ?? []).filter(({ activityType }) => type === undefined || activityType?.name === type)
}

/** Activities that are being retried, with their last failures. */
export async function retryingActivities(handle: WorkflowHandle): Promise<readonly RetryingActivity[]> {
  return (await pendingActivities(handle)).flatMap(({ activityType, attempt, lastFailure }) => {
    if (!lastFailure) return []
    const { message, applicationFailureInfo } = lastFailure
    const code = applicationFailureInfo?.type ?? 'timeout'
    return [{ activity: activityType?.name ?? '', attempt: attempt ?? 0, code, message: message ?? '' }]
  })
}

/** The number of scheduled activities of this type. */
export async function scheduledCount(handle: WorkflowHandle, type: string): Promise<number> {
  return scheduledActivitiesOfType({ events: await eventsOf(handle) }, type).length
}

/** Settles when an activity of this type runs on a worker; ignores the first `skipScheduled` scheduled ones. */
export async function waitForActivity(handle: WorkflowHandle, type: string, skipScheduled = 0): Promise<void> {
  const isRunningNow = async () => {
    const running = (await pendingActivities(handle, type)).filter(isRunning)
    if (running.length === 0 || skipScheduled === 0) return running.length > 0
    // Compares ids: the activity may have ended meanwhile, and the next one may have been scheduled.
    const later = scheduledActivitiesOfType({ events: await eventsOf(handle) }, type).slice(skipScheduled)
    return running.some(({ activityId }) => later.some(({ id }) => id === activityId))
  }
  await vi.waitUntil(isRunningNow, fastPollOptions)
}

/** Settles when a worker runs this attempt, or a later one, of an activity of this type. */
export function waitForAttempt(handle: WorkflowHandle, type: string, attempt: number): Promise<void> {
  return waitForPending(handle, type, (one) => isRunning(one) && Number(one.attempt) >= attempt)
}

/** Settles when an activity of this type has missed its heartbeat timeout, and no worker runs it. */
export function waitForMissedHeartbeat(handle: WorkflowHandle, type: string): Promise<void> {
  return waitForPending(handle, type, (one) => !isRunning(one) && Number(one.attempt) > 1)
}

/** Settles when this worker has taken over an activity of this type. */
export function waitForTakeover(handle: WorkflowHandle, type: string, { pid }: WorkerProcess): Promise<void> {
  return waitForPending(handle, type, (one) => isRunning(one) && one.lastWorkerIdentity?.startsWith(`${pid}@`) === true)
}

/** Settles when no activity of this type is open. */
export async function waitForNoPendingActivity(handle: WorkflowHandle, type: string): Promise<void> {
  await vi.waitUntil(async () => (await pendingActivities(handle, type)).length === 0, pollOptions)
}

/** Settles after this many further heartbeats of a running activity. */
export async function waitForHeartbeats(handle: WorkflowHandle, type: string, times: number): Promise<void> {
  const seen = new Set<string>()
  const hasEnough = async () => {
    const [pending] = await pendingActivities(handle, type)
    if (pending?.lastHeartbeatTime) seen.add(JSON.stringify(pending.lastHeartbeatTime))
    return seen.size > times
  }
  await vi.waitUntil(hasEnough, pollOptions)
}

/** Settles when the history has the final failure of an activity of this type. */
export async function waitForActivityFailure(handle: WorkflowHandle, type: string): Promise<void> {
  const hasFailed = async () => {
    const events = await eventsOf(handle)
    const ids = scheduledActivitiesOfType({ events }, type).map(({ eventId }) => eventId)
    const failures = events.map(
      ({ activityTaskTimedOutEventAttributes: timedOut, activityTaskFailedEventAttributes: failed }) =>
        String((timedOut ?? failed)?.scheduledEventId),
    )
    return ids.some((id) => failures.includes(id))
  }
  await vi.waitUntil(hasFailed, pollOptions)
}

/** Settles when the history has this many of these events. */
export async function waitForEvents(
  handle: WorkflowHandle,
  count: number,
  isOne: (event: HistoryEvent) => boolean,
): Promise<void> {
  const counted = async () => (await eventsOf(handle)).filter(isOne).length
  await expect.poll(counted).toBeGreaterThanOrEqual(count)
}

async function waitForPending(
  handle: WorkflowHandle,
  type: string,
  isOne: (activity: PendingActivity) => boolean,
): Promise<void> {
  await vi.waitUntil(async () => (await pendingActivities(handle, type)).some(isOne), pollOptions)
}

/** True while a worker runs the activity: PENDING_ACTIVITY_STATE_STARTED. */
function isRunning({ state }: PendingActivity): boolean {
  return Number(state) === 2
}

async function eventsOf(handle: WorkflowHandle): Promise<readonly HistoryEvent[]> {
  return (await handle.fetchHistory()).events ?? []
}
