import type { ValueLog } from '../../common/value-log.js'
import type { ModelReply, PendingBlock } from '../../common/messages.js'
import { promptTokens, replyText } from '../../common/runs.js'
import type { ModelTurnResult } from '../../common/model-turn.js'
import { formatCompactNumber } from '../../common/text.js'

/** A conversation between two turns. */
export interface ConversationState {
  /** All that was said before; null before the first reply that was kept. */
  readonly history: ValueLog | null
  /** What the user's side says next. */
  readonly pending: readonly PendingBlock[]
  readonly maxTokens: number
  readonly promptsAgain: number
  /** The last words of the model. */
  readonly lastReplyText: string
  /** Tokens of the last turn. */
  readonly lastTurnTokens: number | null
}

/** What has been said, and what is to be said next. The words themselves are kept elsewhere. */
export class Conversation {
  readonly #defaultMaxTokens: number
  #state: ConversationState

  /** @param maxTokens output tokens a reply may have */
  constructor(maxTokens: number, question: string, state?: ConversationState) {
    this.#defaultMaxTokens = maxTokens
    const pending: PendingBlock[] = [{ type: 'text', text: question }]
    this.#state = state ?? {
      history: null,
      pending,
      maxTokens,
      promptsAgain: 0,
      lastReplyText: '',
      lastTurnTokens: null,
    }
  }

  get state(): ConversationState {
    return this.#state
  }

  /** The reply was heard; whether it is kept is decided after. */
  recordReply({ content, usage }: ModelReply): void {
    const lastTurnTokens = promptTokens(usage) + usage.outputTokens
    this.#state = { ...this.#state, lastReplyText: replyText(content) || this.#state.lastReplyText, lastTurnTokens }
  }

  /** The turn becomes part of the conversation; nothing is left to be said. */
  commitTurn({ history }: ModelTurnResult): void {
    this.#state = { ...this.#state, history, pending: [] }
  }

  /** The same turn again, with twice the room. False when it had that already. */
  raiseTokenLimit(): boolean {
    if (this.#state.maxTokens > this.#defaultMaxTokens) return false
    this.#state = { ...this.#state, maxTokens: this.#defaultMaxTokens * 2 }
    return true
  }

  /** The same turn again, with a word about it. False when there was one already. */
  promptAgain(): boolean {
    if (this.#state.promptsAgain > 0) return false
    this.addPending([{ type: 'text', text: 'Your last reply was empty. Go on, or give your answer.' }])
    this.#state = { ...this.#state, promptsAgain: 1 }
    return true
  }

  /** Results must come before text, which appending keeps. */
  addPending(blocks: readonly PendingBlock[]): void {
    this.#state = { ...this.#state, pending: [...this.#state.pending, ...blocks] }
  }

  /** The results of a turn; the next reply has the usual room. */
  addToolResults(results: readonly PendingBlock[]): void {
    this.addPending(results)
    this.#state = { ...this.#state, maxTokens: this.#defaultMaxTokens }
  }

  summary(turn: number): string {
    const { lastTurnTokens } = this.#state
    return lastTurnTokens === null
      ? `model turn ${turn}`
      : `model turn ${turn} · ${formatCompactNumber(lastTurnTokens)} in`
  }
}
