import type { WorkflowHandle } from '@temporalio/client'

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>

/** One event of a history, as Temporal's client returns it. */
export type HistoryEvent = NonNullable<History['events']>[number]

/** The server's description of a workflow execution. */
export type WorkflowDescription = Awaited<ReturnType<WorkflowHandle['describe']>>

/** The server's description of an activity that has not ended. */
export type PendingActivity = NonNullable<WorkflowDescription['raw']['pendingActivities']>[number]

type Attributes<Name extends keyof HistoryEvent> = NonNullable<HistoryEvent[Name]>

type Timestamp = Attributes<'eventTime'>
export type FailurePayload = NonNullable<Attributes<'activityTaskFailedEventAttributes'>['failure']>
export type Payloads = NonNullable<Attributes<'activityTaskScheduledEventAttributes'>['input']>
export type Payload = NonNullable<Payloads['payloads']>[number]

/** Returns milliseconds since the epoch. */
export function toMilliseconds(time: Timestamp | null | undefined): number {
  return toNumber(time?.seconds) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6)
}

/** Converts an event id. The ids are 64-bit integers, but a history never has 2^53 events. */
export function toEventId(eventId: HistoryEvent['eventId']): number {
  return toNumber(eventId)
}

/**
 * Converts an integer. `Number(long)` makes a string first, which takes ten times as long. A history in a file has
 * numbers or strings.
 */
function toNumber(integer: HistoryEvent['eventId'] | number | string): number {
  return typeof integer === 'object' && integer !== null ? integer.toNumber() : Number(integer ?? 0)
}
