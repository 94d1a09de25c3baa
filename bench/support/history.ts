import type { WorkflowHandle } from '@temporalio/client'

/** Measurements from the history of a finished workflow. */
export interface HistoryMeasurement {
  /** Milliseconds of the measured part, by the server's clock. */
  readonly durationMs: number
  readonly events: number
  readonly bytes: number
}

/**
 * Measures a finished workflow.
 *
 * @param measured the type of an activity: from its scheduling to its completion. Types of two activities: from the
 *   completion of the first to the scheduling of the second. Undefined: all activities
 */
export async function measureHistory(
  handle: WorkflowHandle,
  measured?: string | readonly [string, string],
): Promise<HistoryMeasurement> {
  const [{ events }, { historyLength, historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()])
  const scheduled: Times = []
  const completed: Times = []
  const types = new Map<string, string>()
  for (const { eventId, eventTime, ...event } of events ?? []) {
    const at = Number(eventTime?.seconds) * 1_000 + Number(eventTime?.nanos) / 1e6
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name
    if (typeof type === 'string') {
      types.set(String(eventId ?? ''), type)
      scheduled.push({ type, at })
    }
    const completedId = event.activityTaskCompletedEventAttributes?.scheduledEventId
    if (completedId != null) completed.push({ type: types.get(String(completedId)) ?? '', at })
  }
  const timeOf = (times: Times, wanted: string): number => times.find(({ type }) => type === wanted)?.at ?? Number.NaN
  const durationMs = (): number => {
    if (measured === undefined) return (completed.at(-1)?.at ?? Number.NaN) - (scheduled[0]?.at ?? Number.NaN)
    if (typeof measured === 'string') return timeOf(completed, measured) - timeOf(scheduled, measured)
    return timeOf(scheduled, measured[1]) - timeOf(completed, measured[0])
  }
  return { durationMs: durationMs(), events: historyLength, bytes: historySize ?? 0 }
}

type Times = { readonly type: string; readonly at: number }[]
