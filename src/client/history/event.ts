import type { WorkflowHandle } from '@temporalio/client'

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>

/** One event of a run's history, as Temporal has it. */
export type HistoryEvent = NonNullable<History['events']>[number]

/** What the server says of a run without its history. */
export type Description = Awaited<ReturnType<WorkflowHandle['describe']>>

/** What the server knows of an activity that has not ended. */
export type PendingActivity = NonNullable<Description['raw']['pendingActivities']>[number]

type Attributes<Name extends keyof HistoryEvent> = NonNullable<HistoryEvent[Name]>

export type Timestamp = Attributes<'eventTime'>
export type Failed = NonNullable<Attributes<'activityTaskFailedEventAttributes'>['failure']>
export type Payloads = NonNullable<Attributes<'activityTaskScheduledEventAttributes'>['input']>
export type Payload = NonNullable<Payloads['payloads']>[number]

/** Milliseconds since the epoch. */
export function timeOf(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1e6)
}

/** Event ids are 64 bits on the wire; no history comes near 2^53. */
export function idOf(id: HistoryEvent['eventId']): number {
  return Number(id ?? 0)
}
