/*
 * The messages of an agent, without their text.
 *
 * Owns: the reference of the history, the blocks of the next user message, the token limit of the next reply.
 * Boundary: no activity and no text of the history. Activity `model.turn` loads the history, appends the pending blocks
 * and the reply to it, and returns the new reference. The workflow commits that reference or ignores it.
 *
 * Invariants:
 * 1. The history changes only by `commitTurn`, `compact` and `replace`. A turn that is not committed is repeated with
 *    the same history, or with the same messages compacted.
 * 2. After a committed turn nothing is pending. The results of its tool uses are added before the next turn.
 * 3. The token limit is doubled at most once for a turn, and a reply that is empty, or a call as text, is prompted
 *    again at most once for a message. Answers that do not match the output schema are counted.
 */

import { defined } from '../../common/defined.js'
import type { ValueLog } from '../../common/json/value-log.js'
import { type Attachment, messageBlocks } from '../../common/conversation/attachments.js'
import type { PendingBlock } from '../../common/agent/messages.js'
import { refOf } from '../../common/json/external-value.js'
import { estimateTokens } from '../../common/agent/context-window.js'
import { promptTokens, replyText } from '../../common/run/runs.js'
import type { ModelTurnResult } from '../../common/agent/model-turn.js'
import { type HostedCodeState, noHostedCode } from './hosted/hosted-code.js'
import { formatCompactNumber } from '../../common/text/text.js'

export interface MessageHistoryState {
  /** The messages before `pending`, in the value store; null before the first turn that was committed. */
  readonly history: ValueLog | null
  readonly pending: readonly PendingBlock[]
  /** Output tokens that the next reply may have. */
  readonly maxTokens: number
  /** Number of prompts after a reply that was empty, or a call as text. */
  readonly promptsAgain: number
  /** Number of answers that did not match the output schema. Absent before the first. */
  readonly rejectedAnswers?: number
  /** Text of the latest reply with a text. */
  readonly lastReplyText: string
  /** Prompt and output tokens of the last turn; null before the first. After a compaction they are estimated. */
  readonly lastTurnTokens: number | null
  /** Id of the message in progress, for the live stream. Absent outside of conversations. */
  readonly message?: string
  /** Set only when Anthropic executes the code of the run. */
  readonly hosted?: HostedCodeState
  /** Number of committed turns. Absent: none. */
  readonly committedTurns?: number
  /** Absent before the first compaction. */
  readonly compaction?: {
    /**
     * The next compaction is due when the messages have more tokens than this: the last one left nearly as many, or
     * failed.
     */
    readonly notBelow: number
    /** True when the provider has forced the compaction, and no turn was committed since. */
    readonly isForced: boolean
  }
}

export interface UserMessage {
  readonly text: string
  readonly attachments?: readonly Attachment[] | undefined
  /** Id of the message, in a conversation. */
  readonly id?: string
}

export class MessageHistory {
  readonly #defaultMaxTokens: number
  #state: MessageHistoryState

  /**
   * @param maxTokens default for the output tokens of a reply
   * @param state of the same messages in the execution before this one
   */
  constructor(maxTokens: number, state?: MessageHistoryState) {
    this.#defaultMaxTokens = maxTokens
    this.#state = state ?? {
      history: null,
      pending: [],
      maxTokens,
      promptsAgain: 0,
      lastReplyText: '',
      lastTurnTokens: null,
    }
  }

  get state(): MessageHistoryState {
    return this.#state
  }

  /** Adds a message of a person. The counters of the previous message are reset. */
  addMessage({ text, attachments, id }: UserMessage): void {
    const counted = { maxTokens: this.#defaultMaxTokens, promptsAgain: 0, rejectedAnswers: 0, lastReplyText: '' }
    const { hosted } = this.#state
    const reset = { ...defined({ message: id }), ...(hosted && { hosted: { ...hosted, freeTurns: 0 } }) }
    this.#state = { ...this.#state, ...counted, ...reset }
    this.addPending(messageBlocks(text, attachments))
  }

  /**
   * Takes back all changes since the given state except compactions. Returns false when a turn was committed since:
   * then nothing changes.
   */
  restore(before: MessageHistoryState): boolean {
    const { history, lastTurnTokens, committedTurns, compaction } = this.#state
    if (before.committedTurns !== committedTurns) return false
    this.#state = { ...before, history, lastTurnTokens, ...(compaction && { compaction: ended(compaction) }) }
    return true
  }

  /** Continues with the messages of an earlier state, even when turns were committed since. */
  rewind(state: MessageHistoryState): void {
    this.#state = state
  }

  /** Replaces all messages; null: there are none. */
  replace(history: ValueLog | null): void {
    const { compaction: _, hosted, ...state } = this.#state
    this.#state = { ...state, history, pending: [], lastReplyText: '', lastTurnTokens: null }
    if (hosted?.container) this.setHosted({ ...noHostedCode, container: hosted.container })
  }

  /** The state of code that Anthropic executes; empty before there is any. */
  get hosted(): HostedCodeState {
    return this.#state.hosted ?? noHostedCode
  }

  setHosted(hosted: HostedCodeState): void {
    this.#state = { ...this.#state, hosted }
  }

  /**
   * Replaces the history: the next request has these messages before the pending blocks.
   *
   * @param tokens estimate of the next request
   * @param notBelow the next compaction is due when the messages have more tokens
   */
  compact(history: ValueLog, tokens: number, notBelow: number, isForced: boolean): void {
    const lastTurnTokens = Math.max(0, tokens - this.#pendingTokens)
    this.#state = { ...this.#state, history, lastTurnTokens, compaction: { notBelow, isForced } }
  }

  /** Estimated tokens of the next request; null when the messages were never sent. */
  get nextTurnTokens(): number | null {
    const { lastTurnTokens } = this.#state
    return lastTurnTokens === null ? null : lastTurnTokens + this.#pendingTokens
  }

  get #pendingTokens(): number {
    return estimateTokens(this.#state.pending.reduce((sum, block) => sum + charactersOf(block), 0))
  }

  /**
   * Records text and tokens of a reply, whether or not the turn is committed. The tokens are estimated where the
   * provider reports none.
   */
  recordReply({ reply: { content, usage }, conversationBytes }: ModelTurnResult): void {
    const lastTurnTokens = (promptTokens(usage) || estimateTokens(conversationBytes)) + usage.outputTokens
    this.#state = { ...this.#state, lastReplyText: replyText(content) || this.#state.lastReplyText, lastTurnTokens }
  }

  /** Makes the turn part of the history. Nothing is pending afterwards. */
  commitTurn({ history }: ModelTurnResult): void {
    // Invariant 1.
    const { committedTurns = 0, compaction } = this.#state
    const changed = { committedTurns: committedTurns + 1, ...(compaction && { compaction: ended(compaction) }) }
    this.#state = { ...this.#state, history, pending: [], ...changed }
  }

  /** Doubles the token limit, to repeat a truncated turn. Returns false when it was doubled already. */
  raiseTokenLimit(): boolean {
    if (this.#state.maxTokens > this.#defaultMaxTokens) return false // invariant 3
    this.#state = { ...this.#state, maxTokens: this.#defaultMaxTokens * 2 }
    return true
  }

  /** Adds a prompt after a reply without content. Returns false when the message had such a prompt already. */
  promptAgain(text = 'Your last reply was empty. Continue, or give your answer.'): boolean {
    if (this.#state.promptsAgain > 0) return false
    this.addPending([{ type: 'text', text }])
    this.#state = { ...this.#state, promptsAgain: 1 }
    return true
  }

  /**
   * Counts an answer that does not match the output schema, or a text in place of an answer.
   *
   * @param limit maximum number of such answers
   * @returns false when this was the last one
   */
  rejectAnswer(limit: number): boolean {
    const { rejectedAnswers = 0 } = this.#state
    this.#state = { ...this.#state, rejectedAnswers: rejectedAnswers + 1 }
    return rejectedAnswers + 1 < limit
  }

  /** Resets the number of rejected answers, because the model works again. */
  forgetRejectedAnswers(): void {
    this.#state = { ...this.#state, rejectedAnswers: 0 }
  }

  /**
   * Appends blocks to the next user message. Tool results must be added first: the Messages API requires them before
   * text.
   */
  addPending(blocks: readonly PendingBlock[]): void {
    this.#state = { ...this.#state, pending: [...this.#state.pending, ...blocks] }
  }

  /** Adds the results of a turn's tool uses, and resets the token limit. */
  addToolResults(results: readonly PendingBlock[]): void {
    this.addPending(results) // invariant 2
    this.#state = { ...this.#state, maxTokens: this.#defaultMaxTokens }
  }

  summary(turn: number): string {
    const { lastTurnTokens } = this.#state
    return lastTurnTokens === null
      ? `model turn ${turn}`
      : `model turn ${turn} · ${formatCompactNumber(lastTurnTokens)} in`
  }
}

function ended(compaction: NonNullable<MessageHistoryState['compaction']>): typeof compaction {
  return { ...compaction, isForced: false }
}

/** An estimate for a large image. The provider counts the tokens with the next reply. */
const mediaCharacters = 6_000

/** Returns an upper limit: the middle of an external result may be cut. */
function charactersOf(block: PendingBlock): number {
  if (block.type === 'text') return block.text.length
  if (block.type !== 'tool_result') return mediaCharacters
  if (!('externalContent' in block)) return block.content.length
  const { parts, limit, suffix } = block.externalContent
  const length = parts.reduce<number>((sum, part) => sum + (refOf(part)?.bytes ?? JSON.stringify(part).length), 0)
  return Math.min(length, limit) + suffix.length
}
