import type { Chain } from '../common/chain.js'
import type { ModelReply, SaidBlock } from '../common/messages.js'
import { contextTokens, type ModelTurnResult, textOf } from '../common/runs.js'
import { shortNumber } from '../common/text.js'

/** A conversation between two turns. */
export interface ConversationState {
  /** All that was said before; null before the first reply that was kept. */
  readonly past: Chain | null
  /** What the user's side says next. */
  readonly said: readonly SaidBlock[]
  readonly maxTokens: number
  readonly nudges: number
  /** The last words of the model. */
  readonly lastText: string
  /** Tokens of the last turn. */
  readonly lastTokens: number | null
}

/** What has been said, and what is to be said next. The words themselves are kept elsewhere. */
export class Conversation {
  readonly #usualTokens: number
  #state: ConversationState

  /** @param maxTokens output tokens a reply may have */
  constructor(maxTokens: number, question: string, state?: ConversationState) {
    this.#usualTokens = maxTokens
    const said: SaidBlock[] = [{ type: 'text', text: question }]
    this.#state = state ?? { past: null, said, maxTokens, nudges: 0, lastText: '', lastTokens: null }
  }

  get state(): ConversationState {
    return this.#state
  }

  /** The reply was heard; whether it is kept is decided after. */
  hear({ content, usage }: ModelReply): void {
    const lastTokens = contextTokens(usage) + usage.outputTokens
    this.#state = { ...this.#state, lastText: textOf(content) || this.#state.lastText, lastTokens }
  }

  /** The turn becomes part of the conversation; nothing is left to be said. */
  keep({ conversation }: ModelTurnResult): void {
    this.#state = { ...this.#state, past: conversation, said: [] }
  }

  /** The same turn again, with twice the room. False when it had that already. */
  giveRoom(): boolean {
    if (this.#state.maxTokens > this.#usualTokens) return false
    this.#state = { ...this.#state, maxTokens: this.#usualTokens * 2 }
    return true
  }

  /** The same turn again, with a word about it. False when there was one already. */
  nudge(): boolean {
    if (this.#state.nudges > 0) return false
    this.say([{ type: 'text', text: 'Your last reply was empty. Go on, or give your answer.' }])
    this.#state = { ...this.#state, nudges: 1 }
    return true
  }

  /** Results must come before text, which appending keeps. */
  say(blocks: readonly SaidBlock[]): void {
    this.#state = { ...this.#state, said: [...this.#state.said, ...blocks] }
  }

  /** The results of a turn; the next reply has the usual room. */
  answer(results: readonly SaidBlock[]): void {
    this.say(results)
    this.#state = { ...this.#state, maxTokens: this.#usualTokens }
  }

  summary(turn: number): string {
    const { lastTokens } = this.#state
    return lastTokens === null ? `model turn ${turn}` : `model turn ${turn} · ${shortNumber(lastTokens)} in`
  }
}
