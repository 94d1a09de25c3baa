import { z } from 'zod'
import { completeCallUpdate } from '../../../common/names.js'
import type { ActivityRecord } from './activity-log.js'
import { type HistoryEvent, toEventId, toMilliseconds } from './event.js'
import type { PayloadReader } from './payload-reader.js'

const failedCompletion = z.object({
  idempotencyKey: z.string(),
  result: z.object({ type: z.literal('failure'), message: z.string() }),
})

type FailedCompletion = z.infer<typeof failedCompletion>

/**
 * The updates that fail a deferred call. No activity checks a failure, so nothing else in the history says when the
 * call has it.
 */
export class FailedCompletions {
  readonly #reader: PayloadReader
  /** By the id of the event that accepted the update. */
  readonly #accepted = new Map<number, FailedCompletion>()

  constructor(reader: PayloadReader) {
    this.#reader = reader
  }

  /** A record when the event says that a call has failed. */
  read(event: HistoryEvent): ActivityRecord | undefined {
    const { name, args } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input ?? {}
    if (name === completeCallUpdate) {
      const { data } = failedCompletion.safeParse(this.#reader.first(args))
      if (data) this.#accepted.set(toEventId(event.eventId), data)
      return undefined
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes
    const call = completed && this.#accepted.get(toEventId(completed.acceptedEventId))
    if (!call || completed.outcome?.failure) return undefined
    const at = toMilliseconds(event.eventTime)
    return {
      activityId: '',
      summary: '',
      scheduledAt: at,
      input: { type: 'failure', idempotencyKey: call.idempotencyKey, message: call.result.message },
      started: true,
      attempts: 1,
      lastFailure: undefined,
      blockedNote: undefined,
      end: { type: 'completed', at, result: { type: 'other' } },
    }
  }
}
