import { cellMessageSignal, cellReplySignal } from '../../../common/names.js'
import { type ActivityRecord, completedRecord } from './activity-record.js'
import type { ActivityInput } from './activity-payloads.js'
import type { HistoryEvent } from '../../temporal/event.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import { cellReply, executeCellMessage } from './payload-schemas.js'

/**
 * Returns the record of a cell that the session of another workflow executes, or of its end. The two may be in
 * different executions, so each record is complete.
 *
 * @returns undefined for any other event
 */
export function sharedCellRecord(reader: PayloadReader, event: HistoryEvent, at: number): ActivityRecord | undefined {
  const input = inputOf(reader, event)
  return input && completedRecord(input, { from: at })
}

function inputOf(reader: PayloadReader, event: HistoryEvent): ActivityInput | undefined {
  const sent = event.signalExternalWorkflowExecutionInitiatedEventAttributes
  if (sent?.signalName === cellMessageSignal) {
    const { data } = executeCellMessage.safeParse(reader.first(sent.input))
    const owner = sent.workflowExecution?.workflowId ?? ''
    return data && { ...data, type: 'shared_cell', owner }
  }
  const received = event.workflowExecutionSignaledEventAttributes
  if (received?.signalName !== cellReplySignal) return undefined
  const { data } = cellReply.safeParse(reader.first(received.input))
  return data && { type: 'cell_reply', ...data }
}
