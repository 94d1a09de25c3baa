import { filesMessages } from '../../../common/names.js'
import { type ActivityRecord, completedRecord } from './activity-record.js'
import type { HistoryEvent } from '../../temporal/event.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import { uploads } from './payload-schemas.js'

/** Returns the record of files that a client uploaded to the run; undefined for any other event. */
export function uploadRecord(reader: PayloadReader, event: HistoryEvent, at: number): ActivityRecord | undefined {
  const { name, args } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input ?? {}
  if (name !== filesMessages.upload) return undefined
  const { data: files } = uploads.safeParse(reader.first(args))
  return files && completedRecord({ type: 'upload', files }, { from: at })
}
