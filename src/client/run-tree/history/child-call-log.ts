import type { JsonObject } from '../../../common/json/json.js'
import { memoKeys } from '../../../common/names.js'
import type { ActivityRecord } from './activity-record.js'
import { parseActivityResult, remoteCall } from './activity-payloads.js'
import { type FailurePayload, type HistoryEvent, toEventId } from '../../temporal/event.js'
import { openRecord } from './activity-record.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'
import { agentInput, agentResult, remoteCallMemo } from './payload-schemas.js'

interface ChildCall {
  readonly record: ActivityRecord
  readonly isSubagent: boolean
}

/** The calls that are child workflows: of remote tools, and of sub-agents. Other child workflows are not calls. */
export class ChildCallLog {
  readonly #reader: PayloadReader
  readonly #previewCharacters: number
  readonly #records: ActivityRecord[]
  readonly #byEvent = new Map<number, ChildCall>()

  /** @param records gets a record for each call */
  constructor(reader: PayloadReader, previewCharacters: number, records: ActivityRecord[]) {
    this.#reader = reader
    this.#previewCharacters = previewCharacters
    this.#records = records
  }

  /** @returns whether the event is about a child workflow */
  read(event: HistoryEvent, at: number): boolean {
    const initiated = event.startChildWorkflowExecutionInitiatedEventAttributes
    if (initiated) {
      const { data: call } = remoteCallMemo.safeParse(this.#reader.value(initiated.memo?.fields?.[memoKeys.call]))
      if (!call) return true
      const { tool, position, idempotencyKey, isSubagent = false } = call
      const workflowId = initiated.workflowId ?? ''
      const first = this.#reader.first(initiated.input)
      const parsed = remoteCall(tool, isSubagent ? argumentsOfSubagent(first) : first, position)
      const input = parsed.type === 'tool' ? { ...parsed, call: { ...parsed.call, idempotencyKey } } : parsed
      const record = { ...openRecord(this.#reader, event, { activityId: workflowId, name: tool, input }), workflowId }
      this.#byEvent.set(toEventId(event.eventId), { record, isSubagent })
      this.#records.push(record)
      return true
    }
    const ending = endingOf(event)
    const started = event.childWorkflowExecutionStartedEventAttributes
    const child = this.#byEvent.get(toEventId((ending ?? started)?.initiatedEventId))
    if (!child) return ending !== undefined || Boolean(started)
    const { record } = child
    if (started) {
      record.started = true
      record.attempts = 1
    }
    if (ending) this.#end(child, ending, at)
    return true
  }

  #end({ record, isSubagent }: ChildCall, { type, result, failure }: Ending, at: number): void {
    if (type === 'completed') {
      const returned = this.#reader.first(result)
      const { data: ended } = isSubagent ? agentResult.safeParse(returned) : {}
      if (ended && ended.status !== 'answered') {
        const message = `${record.summary} ended as ${ended.status}`
        record.end = { type: 'failed', at, failure: { code: 'TOOL_FAILED', message } }
        return
      }
      const value = ended ? (ended.output ?? ended.answer) : returned
      record.end = { type, at, result: parseActivityResult(record.input, value, this.#previewCharacters) }
      return
    }
    const read = this.#reader.failure(failure)
    record.end = {
      type: type === 'cancelled' ? type : 'failed',
      at,
      failure: read ?? { code: codes[type], message: type },
    }
  }
}

/** Returns the arguments of the call. The input of the workflow has more members. */
function argumentsOfSubagent(input: unknown): JsonObject | undefined {
  const { data } = agentInput.safeParse(input)
  return data && { task: data.question }
}

interface Ending {
  readonly type: 'completed' | 'failed' | 'cancelled' | 'timed out' | 'terminated' | 'not started'
  readonly initiatedEventId?: HistoryEvent['eventId']
  readonly result?: Parameters<PayloadReader['first']>[0]
  readonly failure?: FailurePayload | null | undefined
}

const codes = {
  failed: 'UNKNOWN',
  cancelled: 'CANCELLED',
  'timed out': 'TIMED_OUT_START_TO_CLOSE',
  terminated: 'TERMINATED',
  'not started': 'UNKNOWN',
} as const

function endingOf(event: HistoryEvent): Ending | undefined {
  const completed = event.childWorkflowExecutionCompletedEventAttributes
  if (completed) return { ...completed, type: 'completed' }
  const failed = event.childWorkflowExecutionFailedEventAttributes
  if (failed) return { ...failed, type: 'failed' }
  const cancelled = event.childWorkflowExecutionCanceledEventAttributes
  if (cancelled) return { initiatedEventId: cancelled.initiatedEventId, type: 'cancelled' }
  const timedOut = event.childWorkflowExecutionTimedOutEventAttributes
  if (timedOut) return { initiatedEventId: timedOut.initiatedEventId, type: 'timed out' }
  const terminated = event.childWorkflowExecutionTerminatedEventAttributes
  if (terminated) return { initiatedEventId: terminated.initiatedEventId, type: 'terminated' }
  const notStarted = event.startChildWorkflowExecutionFailedEventAttributes
  return notStarted ? { initiatedEventId: notStarted.initiatedEventId, type: 'not started' } : undefined
}
