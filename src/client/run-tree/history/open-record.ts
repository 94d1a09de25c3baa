import type { ActivityRecord } from './activity-log.js'
import { type HistoryEvent, toMilliseconds } from './event.js'
import type { PayloadReader } from './payload-reader.js'

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
