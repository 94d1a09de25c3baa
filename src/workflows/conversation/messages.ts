import {
  type ConversationAnswer,
  type ConversationStatus,
  maxQueuedMessages,
  type MessageStatus,
  type SendInput,
} from '../../common/conversation/conversation.js'
import { defined } from '../../common/defined.js'
import type { RunCounts } from '../../common/run/runs.js'
import { utf8Length } from '../../common/text/text.js'

interface AcceptedMessage {
  /** The id of the update that sent the message. */
  readonly id: string
  /** Number of the message in the conversation, from 1. */
  readonly number: number
}

export interface QueuedMessage extends AcceptedMessage, Pick<SendInput, 'text' | 'attachments' | 'files' | 'messages'> {
  readonly steer: boolean
}

/** The message in progress, and the messages that joined it. */
interface CurrentMessage {
  readonly messages: readonly AcceptedMessage[]
  /** The counts of the run before the message. */
  readonly before: Pick<RunCounts, 'turns' | 'cells' | 'toolCalls'>
}

export type MessageOutcome = Pick<
  ConversationAnswer,
  'status' | 'answer' | 'output' | 'error' | 'isTakenBack' | 'compensation'
>

/** After an answer with one of these statuses, a message that changed nothing is taken back. */
export const takenBackStatuses: readonly MessageStatus[] = ['failed', 'refused', 'context_full']

interface AnsweredMessage {
  readonly id: string
  readonly answer: ConversationAnswer
}

export interface MessagesState {
  readonly accepted: number
  readonly queue: readonly QueuedMessage[]
  readonly current: CurrentMessage | null
  readonly answers: readonly AnsweredMessage[]
}

/** The latest answers are kept for clients that ask for them later. */
const keptAnswers = { count: 20, bytes: 200_000 } as const

/** The messages of a conversation from their acceptance to their answer, and the latest answers. */
export class Messages {
  #state: MessagesState

  constructor(state: MessagesState = { accepted: 0, queue: [], current: null, answers: [] }) {
    this.#state = state
  }

  get state(): MessagesState {
    return this.#state
  }

  get current(): CurrentMessage | null {
    return this.#state.current
  }

  /**
   * The counts for the status of the conversation. `message`: number of the message in progress, or of the next one.
   */
  get counts(): Pick<ConversationStatus, 'messages' | 'queued' | 'message'> {
    const { accepted, current, queue } = this.#state
    const message = (current?.messages[0] ?? queue[0])?.id ?? null
    return { messages: accepted, queued: queue.length, message }
  }

  /** True when a message is in progress, or waits. */
  get hasWork(): boolean {
    return this.#state.current !== null || this.#state.queue.length > 0
  }

  get isQueueFull(): boolean {
    return this.#state.queue.length >= maxQueuedMessages
  }

  isKnown(id: string): boolean {
    const { queue, current, answers } = this.#state
    return [...queue, ...(current?.messages ?? []), ...answers].some((message) => message.id === id)
  }

  answerTo(id: string): ConversationAnswer | undefined {
    return this.#state.answers.find((answered) => answered.id === id)?.answer
  }

  accept(id: string, { text, steer = false, attachments, files, messages }: SendInput): void {
    const accepted = this.#state.accepted + 1
    const more = defined({ attachments, files, messages })
    const message: QueuedMessage = { id, number: accepted, text, steer, ...more }
    this.#state = { ...this.#state, accepted, queue: [...this.#state.queue, message] }
  }

  /** Begins the first message of the queue. Returns undefined when the queue is empty. */
  begin({ turns, cells, toolCalls }: RunCounts): QueuedMessage | undefined {
    const [next, ...queue] = this.#state.queue
    if (next)
      this.#state = { ...this.#state, queue, current: { messages: [next], before: { turns, cells, toolCalls } } }
    return next
  }

  /** Takes the messages that steer from the queue: they join the current message. */
  joinSteering(): readonly QueuedMessage[] {
    const { queue, current } = this.#state
    const steering = current ? queue.filter(({ steer }) => steer) : []
    if (steering.length === 0 || !current) return []
    const messages = [...current.messages, ...steering]
    this.#state = { ...this.#state, queue: queue.filter(({ steer }) => !steer), current: { ...current, messages } }
    return steering
  }

  /**
   * Answers the current message, and the messages that joined it.
   *
   * @param counts of the run
   * @param firstId of the message that started the conversation
   */
  answer(outcome: MessageOutcome, counts: RunCounts, firstId: string): void {
    const { current, answers } = this.#state
    if (!current) return
    const { messages, before } = current
    const used = {
      turns: counts.turns - before.turns,
      cells: counts.cells - before.cells,
      toolCalls: counts.toolCalls - before.toolCalls,
    }
    const first = messages[0]?.number ?? 0
    const answered = messages.map(({ id, number }) => {
      const joined = number === first ? {} : { joined: first }
      return { id, answer: { ...outcome, message: number, ...joined, ...used, isNew: id === firstId } }
    })
    this.#state = { ...this.#state, current: null, answers: latest([...answers, ...answered]) }
  }
}

/** Returns the latest answers within the limits. The last answer is always kept. */
function latest(answers: readonly AnsweredMessage[]): readonly AnsweredMessage[] {
  let bytes = 0
  const kept = answers.slice(-keptAnswers.count).toReversed()
  const firstTooMany = kept.findIndex(
    (each, position) => (bytes += utf8Length(JSON.stringify(each))) > keptAnswers.bytes && position > 0,
  )
  return (firstTooMany < 0 ? kept : kept.slice(0, firstTooMany)).toReversed()
}
