/*
 * Conversation: works on messages one after the other. The work on a message lasts until the model has answered it.
 *
 * Owns: the queue of messages, the message in progress, the latest answers, interruption, reset, and the state for
 * continue-as-new. `workflow.ts` binds these to updates, signals and queries.
 * Boundary: `turns/` takes the turns for a message. The messages themselves are in the value store.
 *
 * Invariants:
 * 1. The conversation works on one message at a time, in the order in which Temporal accepted their updates. A message
 *    with `steer` joins the message in progress at the next turn.
 * 2. An accepted message has an answer, also when it was interrupted or the engine failed; or its conversation was
 *    closed. A message that the client sends again under its id is not worked on again.
 * 3. A failure ends the work on a message, never the conversation. A message that the model never saw is taken back.
 * 4. A waiting conversation holds nothing but its history, and after `timeouts.idle` no sandbox.
 * 5. No update waits while the conversation continues as new: it returns `continues`, and its client asks again.
 */

import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
} from '@temporalio/workflow'
import { messageBlocks } from '../../common/conversation/attachments.js'
import {
  type AnswerResult,
  type ConversationHistory,
  type ConversationInput,
  type ConversationResult,
  type ConversationStatus,
  maxQueuedMessages,
  type InterruptConversationInput,
  problemOfSend,
  type ProviderMessage,
  type SendInput,
} from '../../common/conversation/conversation.js'
import { defined } from '../../common/defined.js'
import { zeroCounts } from '../../common/run/runs.js'
import { compensateMessage } from '../calls/compensation/compensate-unfinished.js'
import { showProgress } from '../run/progress.js'
import type { RunCalls } from '../calls/run-calls.js'
import { type RunState, runState } from '../start-run.js'
import { storeMessages } from '../temporal/activities.js'
import { publishStatus } from '../run/search-attributes.js'
import { AgentTurns, type AgentTurnsState } from '../turns/agent-turns.js'
import type { MessageHistoryState } from '../turns/message-history.js'
import { failureOf, rejection } from '../temporal/failures.js'
import { type MessageOutcome, Messages, type MessagesState, type QueuedMessage, takenBackStatuses } from './messages.js'

interface OwnState {
  readonly messages: MessagesState
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly isClosing: boolean
}

export type ConversationState = RunState & AgentTurnsState & OwnState

const interruptedNote = '(A person interrupted the work on this message.)'

export class Conversation {
  readonly #input: ConversationInput
  readonly #createdAt: number
  readonly #messages: Messages
  /** Undefined before the configuration is recorded. */
  #turns: AgentTurns | undefined
  #lastUsedAt: number
  #isContinuing = false
  #isResetting = false
  #isClosing: boolean
  #end: { readonly failure: ApplicationFailure | ActivityFailure } | undefined

  constructor(input: ConversationInput, state: ConversationState | undefined) {
    this.#input = input
    this.#createdAt = state?.createdAt ?? Date.now()
    this.#messages = new Messages(state?.messages)
    this.#lastUsedAt = state?.lastUsedAt ?? this.#createdAt
    this.#isClosing = state?.isClosing ?? false
  }

  /** @throws ApplicationFailure when the update is rejected; a rejected update leaves no event in the history */
  validateMessage(message: SendInput, id: string): void {
    const problem = problemOfSend(message, this.#input)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', problem)
    if (this.#messages.isKnown(id)) return
    if (message.files) this.#turns?.calls.run.requireUploads(message.files, 'the conversation')
    if (this.#isClosing) throw this.#closedFailure()
    if (this.#messages.isQueueFull)
      throw rejection('CONVERSATION_FULL', `${maxQueuedMessages} messages wait in conversation ${this.#input.name}`)
  }

  /** Accepts a message, unless it was accepted before, and waits for its answer. */
  send(message: SendInput, id: string): Promise<AnswerResult> {
    if (!this.#messages.isKnown(id)) this.#messages.accept(id, message)
    return this.waitForAnswer(id)
  }

  /** @throws ApplicationFailure MESSAGE_NOT_FOUND */
  validateRequest(id: string): void {
    if (!this.#messages.isKnown(id)) throw rejection('MESSAGE_NOT_FOUND', `no answer to message ${id} is kept`)
  }

  /** @throws ApplicationFailure CONVERSATION_CLOSED */
  async waitForAnswer(id: string): Promise<AnswerResult> {
    await condition(() => this.#messages.answerTo(id) !== undefined || this.#isContinuing || this.#end !== undefined)
    const answer = this.#messages.answerTo(id)
    if (answer) return { type: 'answered', answer }
    if (this.#end) throw this.#end.failure
    return { type: 'continues' } // invariant 5
  }

  interrupt({ what }: InterruptConversationInput): void {
    if (this.#messages.current) this.#turns?.interrupt(what === 'message')
  }

  close(): void {
    this.#isClosing = true
    this.#turns?.interrupt(true)
  }

  /** @throws ApplicationFailure CONVERSATION_BUSY, CONVERSATION_CLOSED, RUN_INPUT_INVALID */
  validateReset(messages: readonly ProviderMessage[]): void {
    if (this.#isClosing) throw this.#closedFailure()
    if (this.#messages.hasWork || this.#isResetting || !this.#turns)
      throw rejection('CONVERSATION_BUSY', `conversation ${this.#input.name} works on a message`)
    if (!Array.isArray(messages)) throw rejection('RUN_INPUT_INVALID', 'the messages are no list')
  }

  /** Replaces all messages. The variables of the sandbox stay. */
  async reset(messages: readonly ProviderMessage[]): Promise<void> {
    // The validator has checked that it is ready.
    if (!this.#turns) return
    this.#isResetting = true
    try {
      await this.#replaceMessages(this.#turns, messages)
    } finally {
      this.#isResetting = false
    }
  }

  status(): ConversationStatus {
    const counts = this.#turns?.calls.run.counts ?? zeroCounts
    return {
      state: this.#isClosing ? 'closing' : this.#messages.hasWork ? 'working' : 'waiting',
      ...this.#messages.counts,
      waitingCalls: this.#turns?.calls.waiting.expiring.length ?? 0,
      contextTokens: this.#turns?.messages.state.lastTurnTokens ?? null,
      contextWindow: this.#turns?.calls.run.config.model.contextWindow ?? null,
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      ...counts,
    }
  }

  history(): ConversationHistory {
    const { history, pending } = this.#turns?.messages.state ?? { history: null, pending: [] }
    return { history, pending }
  }

  /** The turns of the conversation, with the state of the execution before this one. */
  createTurns(
    calls: RunCalls,
    state: ConversationState | undefined,
    continueAsNew: (state: ConversationState, isUpgraded: boolean) => Promise<void>,
  ): AgentTurns {
    const turns = new AgentTurns(calls, {
      state,
      onContinuing: (isContinuing) => void (this.#isContinuing = isContinuing),
      continueAsNew: (turnsState, isUpgraded) =>
        continueAsNew({ ...runState(calls), ...turnsState, ...this.#state }, isUpgraded),
    })
    this.#turns = turns
    return turns
  }

  /** Works on messages until the conversation is closed. Called after {@link createTurns}. */
  async runUntilClosed(): Promise<ConversationResult> {
    if (!this.#turns) throw rejection('INTERNAL', 'the conversation has no turns')
    const turns = this.#turns
    const { run } = turns.calls
    turns.resume()
    if (this.#input.messages) await this.#replaceMessages(turns, this.#input.messages)
    if (this.#messages.current) await this.#workOn(turns, undefined)
    for (let isFirst = true; ; isFirst = false) {
      const next = await this.#nextMessage(turns, isFirst)
      if (!next) {
        this.#end = { failure: this.#closedFailure() }
        return { messages: this.#messages.state.accepted, ...run.counts }
      }
      await this.#workOn(turns, next)
    }
  }

  /**
   * Does work. When the work fails, the messages without an answer fail with the same error, or with
   * CONVERSATION_CLOSED.
   */
  async failMessagesWith<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (thrown) {
      if (thrown instanceof ContinueAsNew) throw thrown
      const isFailure = thrown instanceof ApplicationFailure || thrown instanceof ActivityFailure
      this.#end = { failure: isFailure ? thrown : this.#closedFailure() } // invariant 2
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished))
      throw thrown
    }
  }

  /** Waits for a message, and takes it from the queue. Returns undefined when the conversation is closed. */
  async #nextMessage(turns: AgentTurns, isFirst: boolean): Promise<QueuedMessage | undefined> {
    const { run } = turns.calls
    const isWanted = () => (this.#messages.hasWork && !this.#isResetting) || this.#isClosing
    for (;;) {
      if (!isWanted()) {
        showProgress(run, { type: 'message' })
        publishStatus(run, 'idle')
      }
      const unusedAt = this.#lastUsedAt + (this.#input.closeAfterMs ?? Infinity)
      // Invariant 4.
      if (!(await waitUntilUsed(() => isWanted() || turns.isContinueAsNewDue, unusedAt))) this.#isClosing = true
      if (this.#isClosing) return undefined
      await turns.continueAsNewIfDue(!isFirst)
      const next = this.#isResetting ? undefined : this.#messages.begin(run.counts) // invariant 1
      if (!next) continue
      publishStatus(run, 'running')
      return next
    }
  }

  /** @param message undefined after continue-as-new: the current one */
  async #workOn(turns: AgentTurns, message: QueuedMessage | undefined): Promise<void> {
    const { run } = turns.calls
    // After continue-as-new, turns of the message may be recorded.
    const messagesBefore = message && turns.messages.state
    turns.clearInterruption()
    if (this.#isClosing) turns.interrupt(true)
    const before = this.#messages.current?.before ?? zeroCounts
    run.limitCallsAfter(before.toolCalls)
    const turnLimit = before.turns + run.config.limits.turns
    try {
      if (message?.messages) await this.#replaceMessages(turns, message.messages)
      if (message?.files) turns.calls.run.addUploads(message.files, 'the conversation')
      if (message) turns.messages.addMessage(message)
      const answered = await turns.runToAnswer(turnLimit, () => this.#joinSteering(turns))
      const outcome = answered && (await turns.releaseAnswer(answered))
      if (!outcome) turns.messages.addPending([{ type: 'text', text: interruptedNote }])
      // Of an interrupted message, nobody can decide on the text.
      const answer = turns.calls.dataFlow.mayHoldAnswer ? '' : turns.messages.state.lastReplyText
      await this.#answer(turns, messagesBefore, outcome ?? { status: 'interrupted', answer })
    } catch (thrown) {
      if (isCancellation(thrown) || thrown instanceof ContinueAsNew) throw thrown
      const error = failureOf(thrown) // invariant 3
      await turns.recover(`[failed] ${error.code}: ${error.message}`)
      await this.#answer(turns, messagesBefore, { status: 'failed', answer: '', error })
    }
  }

  /** Adds the messages that steer. The model reads them with the next turn. */
  #joinSteering({ messages, calls: { run } }: AgentTurns): void {
    // While hosted code waits, the next user message may contain only results.
    if (messages.hosted.open.length > 0) return
    const joining = this.#messages.joinSteering()
    for (const { files } of joining) if (files) run.files.add(files)
    messages.addPending(joining.flatMap(({ text, attachments }) => messageBlocks(text, attachments)))
  }

  async #answer(
    { calls: { run, compensations }, messages }: AgentTurns,
    before: MessageHistoryState | undefined,
    outcome: Omit<MessageOutcome, 'isTakenBack'>,
  ): Promise<void> {
    const { report, note } = await compensateMessage(
      compensations,
      outcome.status === 'answered' || outcome.status === 'withheld',
    )
    if (note !== undefined) messages.addPending([{ type: 'text', text: note }])
    const isTakenBack = before !== undefined && takenBackStatuses.includes(outcome.status) && messages.restore(before)
    // The messages that activated a skill may have been taken back.
    if (isTakenBack) run.skills.moveToPrompt()
    this.#messages.answer(
      { ...outcome, ...defined({ compensation: report }), isTakenBack },
      run.counts,
      this.#input.startedByMessage,
    )
    this.#lastUsedAt = Date.now()
  }

  async #replaceMessages(
    { calls: { run }, messages: current }: AgentTurns,
    messages: readonly ProviderMessage[],
  ): Promise<void> {
    run.skills.reset()
    current.replace(messages.length === 0 ? null : await storeMessages(messages, run.config.timeouts))
  }

  get #state(): OwnState {
    return {
      messages: this.#messages.state,
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      isClosing: this.#isClosing,
    }
  }

  #closedFailure(): ApplicationFailure {
    return rejection('CONVERSATION_CLOSED', `conversation ${this.#input.name} is closed`)
  }
}

/**
 * Waits until the conversation has something to do. Returns false when it counts as unused before that.
 *
 * @param unusedAt milliseconds since the epoch; `Infinity`: never
 */
async function waitUntilUsed(isReady: () => boolean, unusedAt: number): Promise<boolean> {
  if (!Number.isFinite(unusedAt)) {
    await condition(isReady)
    return true
  }
  const leftMs = Math.max(unusedAt - Date.now(), 1)
  return (await condition(isReady, leftMs, { summary: 'close the unused conversation' })) || isReady()
}
