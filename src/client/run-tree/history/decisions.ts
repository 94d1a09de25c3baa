import { z } from 'zod'
import { parseApproval } from '../../../common/calls/approvals.js'
import type { JsonValue } from '../../../common/json/json.js'
import { completeCallUpdate } from '../../../common/names.js'
import { type ActivityRecord, completedRecord } from './activity-record.js'
import type { DecisionInput } from './activity-payloads.js'
import { type HistoryEvent, toEventId, toMilliseconds } from '../../temporal/event.js'
import type { PayloadReader } from '../../temporal/payload-reader.js'

const completion = z.object({
  idempotencyKey: z.string(),
  by: z.string().optional(),
  result: z.discriminatedUnion('type', [
    z.object({ type: z.literal('value'), value: z.custom<JsonValue>() }),
    z.object({ type: z.literal('failure'), message: z.string() }),
  ]),
})

type Completion = Omit<DecisionInput, 'at'>

/**
 * The updates that decide on a call, or complete a deferred one. Only they contain the name of the decider, the
 * replaced arguments, and the failure of a deferred call.
 */
export class Decisions {
  readonly #reader: PayloadReader
  /** Key: the id of the event that accepted the update. */
  readonly #accepted = new Map<number, Completion>()

  constructor(reader: PayloadReader) {
    this.#reader = reader
  }

  /** Returns a record if the event is a decision on a call. */
  read(event: HistoryEvent): ActivityRecord | undefined {
    const { name, args } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input ?? {}
    if (name === completeCallUpdate) {
      const { data } = completion.safeParse(this.#reader.first(args))
      if (data) this.#accepted.set(toEventId(event.eventId), withoutValue(data))
      return undefined
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes
    const decision = completed && this.#accepted.get(toEventId(completed.acceptedEventId))
    if (!decision || completed.outcome?.failure) return undefined
    const at = toMilliseconds(event.eventTime)
    return completedRecord({ type: 'decision', ...decision, at }, { from: at })
  }
}

function withoutValue({ idempotencyKey, by, result }: z.infer<typeof completion>): Completion {
  if (result.type === 'failure') return { idempotencyKey, by, result }
  const approval = parseApproval(result.value ?? null)
  const replacesArguments = approval?.arguments !== undefined
  return { idempotencyKey, by, result: { type: 'value', replacesArguments, remembers: approval?.remember === true } }
}
