import type { WorkflowHandle } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'
import { vi } from 'vitest'
import { fastPollOptions } from '../poll-options.js'

export type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo

/** Open activities of this type; default: of all types. */
export async function pendingActivities(handle: WorkflowHandle, type?: string): Promise<readonly PendingActivity[]> {
  const { raw } = await handle.describe()
  return (raw.pendingActivities ?? []).filter(({ activityType }) => type === undefined || activityType?.name === type)
}

/** True while a worker runs the activity: PENDING_ACTIVITY_STATE_STARTED. */
export function isRunning({ state }: PendingActivity): boolean {
  return Number(state) === 2
}

/** Settles when an activity of this type is running on a worker. */
export async function waitForActivity(handle: WorkflowHandle, type: string): Promise<void> {
  await vi.waitUntil(async () => (await pendingActivities(handle, type)).some(isRunning), fastPollOptions)
}
