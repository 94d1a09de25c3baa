import { setTimeout as delay } from 'node:timers/promises'
import type { ConversationAnswer, StreamEvent } from '../../client/index.js'

/** After the answer, the last events may still be on their way: this long without any, the stream has no more. */
const settleMs = 300
/** The same while a turn or a call has not ended. */
const openSettleMs = 3_000

/**
 * Calls wait for approvals: without an event for so long, they are shown. Calls that were made together come together.
 */
const quietMs = 500

export type MessageEvent =
  | { readonly type: 'event'; readonly event: StreamEvent }
  /** The stream has been quiet for a while, and `isWaiting`. */
  | { readonly type: 'quiet' }
  /** Always the last one. */
  | { readonly type: 'answer'; readonly answer: ConversationAnswer }

interface MessageSources {
  /** Id of the message. */
  readonly id: string
  /** Of the conversation, from its beginning. A stream that fails is left out. */
  readonly events: AsyncGenerator<StreamEvent, void, undefined>
  readonly answer: Promise<ConversationAnswer>
  /** Whether a quiet stream matters now. */
  readonly isWaiting?: () => boolean
}

/**
 * What the work on one message of a conversation does, and then the answer. The stream of a conversation has the events
 * of all messages: those of a message follow the begin of a turn that is for it.
 *
 * @throws what `answer` throws
 */
export async function* messageEvents({
  id,
  events,
  answer,
  isWaiting = () => false,
}: MessageSources): AsyncGenerator<MessageEvent, void, undefined> {
  const open = new Set<string>()
  let isOfMessage = false
  let hasBegun = false
  let answeredAt: number | undefined
  const answering = answer.then(() => {
    answeredAt = Date.now()
    return 'answered' as const
  })
  answering.catch(() => undefined) // `answer` is awaited below, unless the caller leaves earlier
  const read = (): Promise<StreamEvent | undefined> =>
    events.next().then(
      ({ value }) => value ?? undefined,
      () => undefined,
    )
  try {
    for (let next = read(); ;) {
      const waitMs = open.size > 0 ? openSettleMs : settleMs
      const unanswered = Promise.race([next, answering])
      const event = await (answeredAt !== undefined
        ? within(waitMs, next)
        : isWaiting()
          ? within(quietMs, unanswered, 'quiet' as const)
          : unanswered)
      if (event === 'answered') continue
      if (event === 'quiet') {
        yield { type: 'quiet' }
        continue
      }
      if (event === undefined || event.type === 'end') break
      if (event.type === 'turn.begins') isOfMessage = event.message === id
      if (isOfMessage) {
        hasBegun = true
        noteOpen(open, event)
        yield { type: 'event', event }
        // The next message is worked on.
      } else if (answeredAt !== undefined && (hasBegun || event.time > answeredAt)) break
      next = read()
    }
    yield { type: 'answer', answer: await answer }
  } finally {
    // While a read is in progress, this waits for it: the signal of the caller ends both.
    void events.return().catch(() => undefined)
  }
}

/** @param late the result when the time is over */
async function within<Result, Late = undefined>(
  milliseconds: number,
  work: Promise<Result>,
  late?: Late,
): Promise<Result | Late | undefined> {
  const finished = new AbortController()
  const timeout = delay(milliseconds, late, { signal: finished.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, timeout])
  } finally {
    finished.abort()
  }
}

/** Units that have begun and not ended. */
function noteOpen(open: Set<string>, event: StreamEvent): void {
  if (event.type === 'turn.begins' || event.type === 'call.begins') open.add(event.unit)
  if (event.type === 'turn.ends' || event.type === 'turn.fails' || event.type === 'call.ends') open.delete(event.unit)
}
