import type { ActivityInput, ActivityResult } from './activity-payloads.js'
import { type HistoryEvent, toMilliseconds } from '../../temporal/event.js'
import type { Failure, PayloadReader } from '../../temporal/payload-reader.js'

/** One activity of the run, according to the events so far. */
export interface ActivityRecord {
  readonly activityId: string
  /** Id of the child workflow. Set only for a call that is a child workflow. */
  readonly workflowId?: string
  readonly summary: string
  readonly scheduledAt: number
  readonly input: ActivityInput
  started: boolean
  attempts: number
  lastFailure: Failure | undefined
  /** Start of the next attempt, while the activity waits for it. */
  nextAttemptAt?: number | undefined
  /** The progress that a tool reported. */
  progress?: string | undefined
  /** For a running step: the end of the output of its code. */
  printed?: string | undefined
  /** Names the tool that blocked the event loop of the worker meanwhile. */
  blockedNote: string | undefined
  end: ActivityEnd | undefined
}

type ActivityEnd =
  | { readonly type: 'completed'; readonly at: number; readonly result: ActivityResult }
  | { readonly type: 'failed' | 'cancelled'; readonly at: number; readonly failure: Failure }

/** Creates the record of work without events of its own, which has ended. */
export function completedRecord(
  input: ActivityInput,
  { from, to = from }: { readonly from: number; readonly to?: number },
  { summary = '', result = { type: 'other' } }: { readonly summary?: string; readonly result?: ActivityResult } = {},
): ActivityRecord {
  return {
    activityId: '',
    summary,
    scheduledAt: from,
    input,
    started: true,
    attempts: 1,
    lastFailure: undefined,
    blockedNote: undefined,
    end: { type: 'completed', at: to, result },
  }
}

/**
 * Creates the record of an activity, or of a child workflow, that begins with this event.
 *
 * @param name text of the record if there is no summary
 */
export function openRecord(
  reader: PayloadReader,
  { userMetadata, eventTime }: HistoryEvent,
  { activityId, name, input }: Pick<ActivityRecord, 'activityId' | 'input'> & { readonly name: string },
): ActivityRecord {
  const summary = reader.value(userMetadata?.summary)
  return {
    activityId,
    summary: typeof summary === 'string' ? summary : name,
    scheduledAt: toMilliseconds(eventTime),
    input,
    started: false,
    attempts: 0,
    lastFailure: undefined,
    blockedNote: undefined,
    end: undefined,
  }
}
