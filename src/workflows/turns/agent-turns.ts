/*
 * Turns of a model: from a message to its answer, with the code and the tools that the model uses on the way.
 *
 * Owns: the loop of turns, its limits, how it ends, its interruption, and what it takes through continue-as-new.
 * Boundary: `message-history.ts` has the messages, `compaction.ts` shortens them, `interpret-reply.ts` says what a reply
 * asks for, `execute-tool-uses.ts` executes its tool uses, `cell/` runs its code. The workflow that has the turns
 * decides what the next message is, and what an answer means: the end of workflow `agent`, one message of workflow
 * `conversation`.
 * No workflow has the text of earlier messages: activity `model.turn` keeps them in the value store.
 *
 * Invariants:
 * 1. A turn is counted before the model is asked. A message has at most `limits.turns` turns, repeated ones included.
 * 2. A reply enters the history with all tool uses, or not at all (truncated, empty). A tool use of a reply that did not
 *    enter it is not executed.
 * 3. The next turn starts when every tool use of the last reply has its result: also after an interruption or a failure.
 * 4. A run continues as new between two turns, or while a cell waits. No call is in progress then, and results that are
 *    recorded are not computed again.
 */

import { workflowInfo } from '@temporalio/workflow'
import type { JsonValue } from '../../common/json/json.js'
import { isToolUseBlock } from '../../common/runs/messages.js'
import type { ModelTurnResult } from '../../common/runs/model-turn.js'
import { type AgentStatus, replyText } from '../../common/runs/runs.js'
import {
  type CodeRuntime,
  type CodeRuntimeState,
  createCodeRuntime,
  scheduleIdlePark,
  serializeRuntime,
} from '../cell/code-runtime.js'
import { startPendingCalls } from '../cell/run-cell.js'
import { showProgress } from '../progress.js'
import { addReplyUsage, type Run } from '../run.js'
import { ContinueAsNewPolicy } from '../temporal/continue-as-new.js'
import { askModel } from './ask-model.js'
import {
  executeToolUses,
  type PendingToolUses,
  rejectAnswers,
  type SuspendedCell,
  toolResult,
} from './execute-tool-uses.js'
import { Compaction } from './compaction.js'
import { interpretReply } from './interpret-reply.js'
import { MessageHistory, type MessageHistoryState } from './message-history.js'
import { TurnInterruption } from './turn-interruption.js'
import { isContextTooLong, turnRequest } from './turn-request.js'
import { waitForBudget } from './wait-for-budget.js'

/** The state for the next execution of the continue-as-new chain. */
export interface AgentTurnsState {
  readonly codeRuntime: CodeRuntimeState
  readonly conversation: MessageHistoryState
  /** The tool uses in progress; null between turns. */
  readonly pendingToolUses: PendingToolUses | null
  /** The cell that waits; null when none does. */
  readonly suspendedCell: SuspendedCell | null
}

export interface AnswerOutcome {
  readonly status: AgentStatus
  readonly answer: string
  readonly output?: JsonValue
}

interface AgentTurnsOptions {
  /** Of the same run in the execution before this one. */
  readonly state?: AgentTurnsState | undefined
  /**
   * Continues the workflow as new with this state, and then never returns.
   *
   * @param isUpgraded on the version of the worker deployment that new runs get
   */
  readonly continueAsNew: (state: AgentTurnsState, isUpgraded: boolean) => Promise<void>
  /** Called when the next execution is about to begin, and when it does not begin after all. */
  readonly onContinuing?: (isContinuing: boolean) => void
}

/** The turns of one run; see the header. */
export class AgentTurns {
  readonly codeRuntime: CodeRuntime
  readonly messages: MessageHistory
  readonly #run: Run
  readonly #options: AgentTurnsOptions
  readonly #continueAsNewPolicy: ContinueAsNewPolicy
  #pendingToolUses: PendingToolUses | null
  #suspendedCell: SuspendedCell | null
  readonly #interruption = new TurnInterruption()
  readonly #compaction: Compaction

  constructor(run: Run, options: AgentTurnsOptions) {
    const { state } = options
    this.#run = run
    this.#options = options
    this.messages = new MessageHistory(run.config.model.maxTokens, state?.conversation)
    this.#continueAsNewPolicy = new ContinueAsNewPolicy(run.callSlots, run.config.limits.historyEvents)
    this.#pendingToolUses = state?.pendingToolUses ?? null
    this.#suspendedCell = state?.suspendedCell ?? null
    this.#compaction = new Compaction(run, this.messages, this.#interruption)
    this.codeRuntime = createCodeRuntime(run, {
      idleMs: run.config.timeouts.idleMs,
      isContinueAsNewDue: () => this.#continueAsNewPolicy.isDue,
      continueAsNewIfDue: (cell) =>
        this.continueAsNewIfDue({ toolUseId: this.#pendingToolUses?.currentCell ?? '', cell }),
      state: state?.codeRuntime,
    })
  }

  /**
   * Takes turns until the model has answered.
   *
   * @param turnLimit the number of the last turn, counted from the begin of the run
   * @param beforeTurn called before each turn: messages may be added
   * @returns undefined when the turns were interrupted
   * @throws CancelledFailure, and failures of the engine
   */
  async runToAnswer(turnLimit: number, beforeTurn?: () => void): Promise<AnswerOutcome | undefined> {
    const { counts } = this.#run
    if (this.#pendingToolUses) await this.#executeToolUses(this.#pendingToolUses)
    for (let isFirst = true; counts.turns < turnLimit; isFirst = false) {
      if (this.#interruption.isRequested) return undefined
      // Not before the first turn: each execution of a run makes progress, also when none of them can be upgraded.
      await this.continueAsNewIfDue(null, !isFirst)
      if (this.#run.budget.spent && !(await waitForBudget(this.#run, () => this.#interruption.isRequested)))
        return this.#interruption.isRequested ? undefined : this.#endWith('budget_spent')
      if (this.#compaction.isDue) {
        await this.#compaction.run()
        continue // the summary may have spent the budget
      }
      beforeTurn?.()
      counts.turns += 1
      const outcome = await this.#runTurn()
      if (outcome) return outcome
    }
    return this.#endWith('turn_limit')
  }

  /** After continue-as-new, which keeps no call and no timer. */
  resume(): void {
    const { state } = this.#options
    if (!state) return
    startPendingCalls(this.#run, this.codeRuntime, state.codeRuntime.pendingCalls.notStarted)
    if (!this.#pendingToolUses) scheduleIdlePark(this.codeRuntime)
  }

  /**
   * Interrupts the code that runs, as Ctrl-C does.
   *
   * @param endsTurns then {@link runToAnswer} ends, too. The request to the model and direct calls are cancelled
   */
  interrupt(endsTurns: boolean): void {
    if (this.codeRuntime.usage.isBusy) this.codeRuntime.session.interruption.request()
    if (endsTurns) this.#interruption.request()
  }

  /** Another message begins. */
  clearInterruption(): void {
    this.#interruption.clear()
  }

  /** After a failure of the engine: every tool use gets a result, so that the next message can follow. */
  async recover(problem: string): Promise<void> {
    const pending = this.#pendingToolUses
    if (!pending) return
    const { toolUses, results, currentCell } = pending
    this.#interruption.cancelWork()
    if (currentCell !== undefined && results[currentCell] === undefined) {
      this.codeRuntime.pendingCalls.dropCell()
      await this.codeRuntime.session.dropCell()
    }
    this.#endToolUses(toolUses.map((use) => results[use.id] ?? toolResult(use, problem, true)))
  }

  /** True when the history is long. */
  get isContinueAsNewDue(): boolean {
    return this.#continueAsNewPolicy.isDue
  }

  /**
   * Undefined when it is not due: every call would wait for a promise.
   *
   * @param mayUpgrade a newer version of the worker deployment is a reason, too
   */
  continueAsNewIfDue(suspendedCell: SuspendedCell | null, mayUpgrade = false): Promise<void> | undefined {
    const { isDue, isUpgradeDue } = this.#continueAsNewPolicy
    return isDue || (mayUpgrade && isUpgradeDue) ? this.#tryContinueAsNew(suspendedCell) : undefined
  }

  /** One turn of the model, with the tool uses of its reply. Undefined when another turn follows. */
  async #runTurn(): Promise<AnswerOutcome | undefined> {
    const { messages } = this
    const { limits } = this.#run.config
    const turnResult = await this.#askModel()
    if (turnResult === 'interrupted') return undefined
    if (turnResult === 'context_full') return this.#compactOrEnd(messages.state.lastReplyText)
    const { reply, calls } = turnResult
    addReplyUsage(this.#run, reply)
    messages.recordReply(turnResult)
    this.#compaction.showUse()
    const hasSchema = this.#run.config.outputSchema !== undefined
    const action = interpretReply(reply, { hasSchema, submitted: turnResult.answer })
    switch (action.type) {
      case 'end': {
        const { status, answer, output } = action
        if (status === 'context_full') return this.#compactOrEnd(answer)
        if (status === 'answered') {
          messages.commitTurn(turnResult)
          messages.addToolResults(
            reply.content.filter(isToolUseBlock).map((use) => toolResult(use, answerAccepted, false)),
          )
        }
        return { status, answer, ...(output !== undefined && { output }) }
      }
      case 'ask_for_answer':
        if (!messages.rejectAnswer(limits.answerAttempts)) return this.#endWith('invalid_answer')
        messages.commitTurn(turnResult)
        messages.askForAnswer()
        return undefined
      case 'truncated':
        return messages.raiseTokenLimit() ? undefined : { status: 'truncated', answer: replyText(reply.content) }
      case 'prompt_again':
        return messages.promptAgain() ? undefined : this.#endWith('no_answer')
      case 'continue':
        messages.commitTurn(turnResult)
        return undefined
      case 'execute_tools': {
        const { uses, problem } = action
        if (problem !== undefined && !messages.rejectAnswer(limits.answerAttempts))
          return this.#endWith('invalid_answer')
        messages.commitTurn(turnResult)
        const results = problem === undefined ? {} : rejectAnswers(uses, problem)
        await this.#executeToolUses({ toolUses: uses, calls, results })
        return undefined
      }
    }
  }

  async #askModel(): Promise<ModelTurnResult | 'interrupted' | 'context_full'> {
    const { counts } = this.#run
    showProgress(this.#run, { type: 'model', turn: counts.turns })
    const { state } = this.messages
    const request = turnRequest(this.#run, state)
    const summary = this.messages.summary(counts.turns)
    try {
      return await this.#interruption.run(() => askModel(this.#run, request, state.maxTokens, summary))
    } catch (thrown) {
      if (this.#interruption.hasCaused(thrown)) return 'interrupted'
      if (isContextTooLong(thrown)) return 'context_full'
      throw thrown
    }
  }

  /** The messages are larger than the context window: the turn is repeated once, with compacted messages. */
  async #compactOrEnd(answer: string): Promise<AnswerOutcome | undefined> {
    const isRepeated = (await this.#compaction.force()) || this.#interruption.isRequested
    return isRepeated ? undefined : { status: 'context_full', answer }
  }

  /** Ends with the latest text. */
  #endWith(status: AgentStatus): AnswerOutcome {
    return { status, answer: this.messages.state.lastReplyText }
  }

  async #executeToolUses(pending: PendingToolUses): Promise<void> {
    this.#pendingToolUses = pending
    const suspended = this.#suspendedCell ?? undefined
    this.#suspendedCell = null
    const isRequested = () => this.#interruption.isRequested
    const interruption = { isRequested, directCalls: this.#interruption.beginWork() }
    const { history } = this.messages.state
    this.#endToolUses(await executeToolUses(this.#run, this.codeRuntime, pending, suspended, interruption, history))
    this.#interruption.endWork()
  }

  #endToolUses(results: Parameters<MessageHistory['addToolResults']>[0]): void {
    this.messages.addToolResults(results)
    this.#pendingToolUses = null
  }

  /** Continues the run as new, and then never returns, unless calls in progress take too long. */
  async #tryContinueAsNew(suspendedCell: SuspendedCell | null): Promise<void> {
    const { onContinuing, continueAsNew } = this.#options
    onContinuing?.(true)
    if (!(await this.#continueAsNewPolicy.attempt())) {
      onContinuing?.(false)
      return
    }
    const codeRuntime = await serializeRuntime(this.codeRuntime)
    const state: AgentTurnsState = {
      codeRuntime,
      conversation: this.messages.state,
      pendingToolUses: this.#pendingToolUses,
      suspendedCell,
    }
    await continueAsNew(state, suspendedCell === null && workflowInfo().targetWorkerDeploymentVersionChanged)
  }
}

const answerAccepted = 'The answer was accepted. Other tools of the same reply were not called.'
