import { setTimeout as delay } from 'node:timers/promises'
import type { ConversationAnswer } from '../../client/index.js'
import type { StreamEvent } from '../../stream/index.js'

/** Last events may arrive after the answer. The stream has ended after this many milliseconds without an event. */
const settleMs = 300
/** The same limit before the first event of the message, and while a turn or a call has not ended. */
const openSettleMs = 3_000

/**
 * Calls that wait for approvals are shown after this many milliseconds without an event, so that calls of one step are
 * shown together.
 */
const quietMs = 500

export type MessageEvent =
  | { readonly type: 'event'; readonly event: StreamEvent }
  /** The stream has been quiet for a while, and `isWaiting` returns true. */
  | { readonly type: 'quiet' }
  /** Always the last one. */
  | { readonly type: 'answer'; readonly answer: ConversationAnswer }

interface MessageSources {
  /** Id of the message. */
  readonly id: string
  /** Events of the conversation, from its beginning. A stream that fails is left out. */
  readonly events: AsyncGenerator<StreamEvent, void, undefined>
  readonly answer: Promise<ConversationAnswer>
  /** Whether the caller wants to know of a quiet stream now. */
  readonly isWaiting?: () => boolean
}

/**
 * The events of the work on one message of a conversation, and then the answer. The stream of a conversation has the
 * events of all messages. The events of a message follow the begin of a turn that is for it.
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
      const waitMs = open.size > 0 || !hasBegun ? openSettleMs : settleMs
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
      if (event.type === 'turn.started') isOfMessage = event.message === id
      if (isOfMessage) {
        hasBegun = true
        noteOpen(open, event)
        yield { type: 'event', event }
        // The conversation works on the next message.
      } else if (answeredAt !== undefined && (hasBegun || event.time > answeredAt)) break
      next = read()
    }
    yield { type: 'answer', answer: await answer }
  } finally {
    // This waits for a read in progress: the signal of the caller ends both.
    void events.return().catch(() => undefined)
  }
}

/** @param late the result after a timeout */
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

/** Updates the set of turns and calls that have started and not ended. */
function noteOpen(open: Set<string>, { type, unit = '' }: StreamEvent & { readonly unit?: string }): void {
  if (type === 'turn.started' || type === 'call.started') open.add(unit)
  if (/^(turn|call)\.(completed|deferred|failed)$/.test(type)) open.delete(unit)
}
