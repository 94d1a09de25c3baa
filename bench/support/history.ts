import type { WorkflowHandle } from '@temporalio/client'

/** Measurements from the history of a finished workflow. */
export interface HistoryMeasurement {
  /** Milliseconds from the first measured activity's scheduling to the last one's completion, by the server's clock. */
  readonly durationMs: number
  readonly events: number
  readonly bytes: number
}

/** @param activity type of the measured activities; undefined: all */
export async function measureHistory(handle: WorkflowHandle, activity?: string): Promise<HistoryMeasurement> {
  const [{ events }, { historyLength, historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()])
  const counted = new Set<string>()
  let first = Infinity
  let last = -Infinity
  for (const { eventId, eventTime, ...event } of events ?? []) {
    const milliseconds = Number(eventTime?.seconds) * 1_000 + Number(eventTime?.nanos) / 1e6
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name
    if (type !== undefined && (activity === undefined || type === activity)) {
      counted.add(String(eventId))
      first = Math.min(first, milliseconds)
    }
    const completed = event.activityTaskCompletedEventAttributes?.scheduledEventId
    if (completed && counted.has(String(completed))) last = milliseconds
  }
  return { durationMs: last - first, events: historyLength, bytes: historySize ?? 0 }
}
