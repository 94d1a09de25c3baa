/*
 * Turns of a model: from a message to its answer, with the code and the tools that the model uses for it.
 *
 * Owns: the loop of turns, its limits, its end, its interruption, and the state for continue-as-new.
 * Boundary: `message-history.ts` has the messages, `compaction.ts` shortens them, `interpret-reply.ts` decides what a
 * reply asks for, `execute-tool-uses.ts` executes its tool uses, `cell/` runs its code. The workflow that has the turns
 * decides what the next message is, and what an answer means: the end of workflow `agent`, one message of workflow
 * `conversation`. No workflow has the text of earlier messages: activity `model.turn` keeps them in the value store.
 *
 * Invariants:
 * 1. A turn is counted before the model is asked. A message has at most `limits.turns` turns, repeated ones included.
 * 2. A reply enters the history with all tool uses, or not at all (truncated, empty). A tool use of a reply that did
 *    not enter it is not executed.
 * 3. The next turn starts when every tool use of the last reply has its result, also after an interruption or a
 *    failure.
 * 4. A run continues as new between two turns, or while a cell waits. No call is in progress then, and results that are
 *    recorded are not computed again.
 */

import { workflowInfo } from '@temporalio/workflow'
import { isToolUseBlock, type PendingBlock } from '../../common/agent/messages.js'
import type { ModelTurnResult } from '../../common/agent/model-turn.js'
import { type AgentStatus, replyText } from '../../common/run/runs.js'
import { sharesSandbox } from '../../common/calls/tool-config.js'
import {
  type CellState,
  type CodeRuntime,
  type CodeRuntimeState,
  createCodeRuntime,
  dropCell,
  interruptCell,
  scheduleIdlePark,
  serializeRuntime,
} from '../cell/code-runtime.js'
import { startPendingCalls } from '../cell/run-cell.js'
import type { RunCalls } from '../calls/run-calls.js'
import { jsonToText } from '../../common/text/text.js'
import { holdAnswer } from '../calls/data-flow/hold-answer.js'
import { serveBorrowedCells } from '../shared-session/borrowed-cells.js'
import { SharedSessions, type SharedSessionsState } from '../shared-session/shared-sessions.js'
import { showProgress } from '../run/progress.js'
import { ContinueAsNewPolicy } from '../run/continue-as-new.js'
import { hasFailedWith } from '../temporal/failures.js'
import { Interruption } from '../temporal/interruption.js'
import { type AnswerOutcome, outcomeOfResults } from './answer-outcome.js'
import { askModel } from './ask-model.js'
import { checkDone } from './check-done.js'
import { Compaction } from './compaction.js'
import {
  executeToolUses,
  type PendingToolUses,
  rejectSubmissions,
  sessionInInput,
  type SuspendedCell,
} from './execute-tool-uses.js'
import { HostedTurns } from './hosted/hosted-turns.js'
import { interpretReply } from './interpret-reply.js'
import { MessageHistory, type MessageHistoryState } from './message-history.js'
import { toolResult } from './tool-result.js'
import { acceptSubmission, turnGoal, type TurnStage } from './turn-goal.js'
import { turnRequest } from './turn-request.js'
import { waitForBudget } from '../run/wait-for-budget.js'

export interface AgentTurnsState extends SharedSessionsState {
  readonly codeRuntime: CodeRuntimeState
  readonly conversation: MessageHistoryState
  /** The tool uses in progress; null between turns. */
  readonly pendingToolUses: PendingToolUses | null
  /** The cell that waits; null when no cell waits. */
  readonly suspendedCell: SuspendedCell | null
}

interface AgentTurnsOptions {
  readonly state?: AgentTurnsState | undefined
  /**
   * Continues the workflow as new with this state, and then never returns.
   *
   * @param isUpgraded the next execution runs on the version of the worker deployment that new runs get
   */
  readonly continueAsNew: (state: AgentTurnsState, isUpgraded: boolean) => Promise<void>
  /** Called when the next execution is about to begin, and when it does not begin after all. */
  readonly onContinuing?: (isContinuing: boolean) => void
}

export class AgentTurns {
  readonly codeRuntime: CodeRuntime
  readonly messages: MessageHistory
  readonly calls: RunCalls
  /** The sessions of other workflows that execute code of this run. */
  readonly #shared: SharedSessions
  readonly #options: AgentTurnsOptions
  readonly #continueAsNewPolicy: ContinueAsNewPolicy
  #pendingToolUses: PendingToolUses | null
  #suspendedCell: SuspendedCell | null
  readonly #interruption = new Interruption()
  readonly #compaction: Compaction
  readonly #hosted: HostedTurns

  constructor(calls: RunCalls, options: AgentTurnsOptions) {
    const { state } = options
    const { run, slots, borrowers } = calls
    this.calls = calls
    this.#options = options
    this.messages = new MessageHistory(run.config.model.maxTokens, state?.conversation)
    const isHeld = () => borrowers.size > 0
    this.#continueAsNewPolicy = new ContinueAsNewPolicy(slots, run.config.loweredLimits?.historyEvents, isHeld)
    this.#pendingToolUses = state?.pendingToolUses ?? null
    this.#suspendedCell = state?.suspendedCell ?? null
    this.#hosted = new HostedTurns(run, this.messages)
    this.#compaction = new Compaction(run, this.messages, this.#interruption)
    const isDue = () => this.isContinueAsNewDue
    const inCell = (cell: CellState) =>
      this.#tryContinueAsNew({ toolUseId: this.#pendingToolUses?.currentCell ?? '', cell })
    this.codeRuntime = createCodeRuntime(calls, {
      idleMs: run.config.timeouts.idleMs,
      outputReader: 'model',
      continuation: { isDue, attempt: inCell },
      state: state?.codeRuntime,
    })
    const inSharedCell = () => this.#tryContinueAsNew(null)
    const shared = new SharedSessions(calls, { isDue, attempt: inSharedCell }, state)
    this.#shared = shared
    if (!shared.isEmpty) this.codeRuntime.beforeClose.push(() => shared.close())
    if (!shared.replacesOwn && run.config.tools.some(sharesSandbox)) serveBorrowedCells(this.codeRuntime)
  }

  /**
   * Takes turns until the model has answered.
   *
   * @param turnLimit the number of the last turn, counted from the start of the run
   * @param beforeTurn called before each turn: messages may be added
   * @param stage what the turns are for
   * @returns undefined when the turns were interrupted
   * @throws CancelledFailure, and failures of the engine
   */
  async runToAnswer(
    turnLimit: number,
    beforeTurn?: () => void,
    stage: TurnStage = { type: 'answer' },
  ): Promise<AnswerOutcome | undefined> {
    const { run } = this.calls
    if (this.#pendingToolUses) {
      const results = await this.#executeToolUses(this.#pendingToolUses)
      if (run.config.mode === 'single-turn') return outcomeOfResults(run, results)
    }
    for (let isFirst = true; run.counts.turns - this.messages.hosted.freeTurns < turnLimit; isFirst = false) {
      if (this.#interruption.isRequested) return undefined
      // An upgrade is not a reason before the first turn: each execution of a run makes progress, even when the server
      // can't upgrade any of them.
      await this.continueAsNewIfDue(!isFirst)
      if (run.budget.spent && !(await waitForBudget(run, () => this.#interruption.isRequested)))
        return this.#interruption.isRequested ? undefined : this.#endWith('budget_spent')
      if (this.#compaction.isDue) {
        await this.#compaction.run()
        continue // the summary may have spent the budget
      }
      beforeTurn?.()
      this.messages.addPending(run.files.takeNews())
      run.count({ turns: 1 }) // invariant 1
      const outcome = await this.#runTurn(stage)
      if (outcome) return outcome
    }
    return this.#endWith('turn_limit')
  }

  /**
   * Keeps an answer back, or lets a person decide, as the rules on data say.
   *
   * @returns undefined when the turns were interrupted
   */
  async releaseAnswer<Outcome extends AnswerOutcome>(outcome: Outcome): Promise<Outcome | AnswerOutcome | undefined> {
    const { dataFlow } = this.calls
    const text = outcome.output === undefined ? outcome.answer : jsonToText(outcome.output)
    const held = await this.#interruption.runCancellable(async () => ({
      reason: await holdAnswer(this.calls, text, dataFlow.ofModel),
    }))
    if (held === 'interrupted') return undefined
    return held.reason === undefined ? outcome : { status: 'withheld', answer: held.reason }
  }

  /** Restores calls and timers after continue-as-new, which keeps neither. */
  resume(): void {
    const { state } = this.#options
    if (!state) return
    startPendingCalls(this.codeRuntime, state.codeRuntime.pendingCalls.notStarted)
    if (!this.#pendingToolUses) scheduleIdlePark(this.codeRuntime)
  }

  /**
   * Interrupts the code that runs, as Ctrl-C does.
   *
   * @param endsTurns {@link runToAnswer} ends as well, and the request to the model and direct calls are cancelled
   */
  interrupt(endsTurns: boolean): void {
    this.#shared.interrupt()
    interruptCell(this.codeRuntime)
    if (endsTurns) this.#interruption.request()
  }

  /** Called before the work on another message begins. */
  clearInterruption(): void {
    this.#interruption.clear()
  }

  /** Called after a failure of the engine. Every tool use gets a result, so that the next message can follow. */
  async recover(problem: string): Promise<void> {
    const pending = this.#pendingToolUses
    if (!pending) return
    const { toolUses, results, currentCell } = pending
    this.#interruption.stopWork()
    const use = toolUses.find(({ id }) => id === currentCell)
    if (use !== undefined && results[use.id] === undefined)
      await (this.#shared.of(sessionInInput(use))?.abandon() ?? dropCell(this.codeRuntime))
    this.#endToolUses(toolUses.map((use) => results[use.id] ?? toolResult(use, problem, true))) // invariant 3
  }

  get isContinueAsNewDue(): boolean {
    return this.#continueAsNewPolicy.isDue
  }

  /**
   * Continues the run as new if that is due.
   *
   * @param mayUpgrade a newer version of the worker deployment is a further reason
   */
  async continueAsNewIfDue(mayUpgrade: boolean): Promise<void> {
    const { isDue, isUpgradeDue } = this.#continueAsNewPolicy
    if (isDue || (mayUpgrade && isUpgradeDue)) await this.#tryContinueAsNew(null)
  }

  /** Runs one turn of the model, with the tool uses of its reply. Returns undefined when another turn follows. */
  async #runTurn(stage: TurnStage): Promise<AnswerOutcome | undefined> {
    const { messages } = this
    const { run } = this.calls
    const { mode, outputSchema, isPlain } = run.config
    const goal = turnGoal(run.config, stage)
    const turnResult = await this.#askModel(stage)
    if (turnResult === 'interrupted' || turnResult === 'code_lost') return undefined
    if (turnResult === 'context_full') return this.#compactOrEnd(messages.state.lastReplyText)
    const { reply, calls, textCall } = turnResult
    run.countReply(reply)
    messages.recordReply(turnResult)
    this.#compaction.showUse()
    const action = interpretReply(reply, {
      mustSubmit: goal.promptAfterText !== undefined,
      submitted: acceptSubmission(goal, turnResult.answer),
      textCall,
      plainCalls: isPlain && calls,
    })
    switch (action.type) {
      case 'end': {
        const { status, answer, output } = action
        if (status === 'context_full') return this.#compactOrEnd(answer)
        if (status === 'answered') {
          const uses = reply.content.filter(isToolUseBlock)
          const check = calls[uses[0]?.id ?? '']
          const problem = check && (await checkDone(this.calls, check))
          this.#commit(turnResult)
          messages.addToolResults(uses.map((use) => toolResult(use, problem ?? answerAccepted, problem !== undefined)))
          if (problem !== undefined) return undefined
        }
        return { status, answer, ...(output !== undefined && outputSchema && { output }) }
      }
      case 'end_plain':
        return { status: action.status, answer: action.answer }
      case 'plan':
        this.#commit(turnResult)
        return { status: 'answered', answer: '', submittedPlan: { steps: action.steps, toolUseId: action.toolUseId } }
      case 'ask_for_answer':
        if (!messages.rejectAnswer(goal.attempts)) return this.#endWith(goal.failure.text)
        this.#commit(turnResult)
        messages.addPending([{ type: 'text', text: goal.promptAfterText ?? '' }])
        return undefined
      case 'truncated': // invariant 2
        return messages.raiseTokenLimit() ? undefined : { status: 'truncated', answer: replyText(reply.content) }
      case 'prompt_again':
        // The history keeps code that has run.
        if (this.#hosted.isUsed && reply.content.length > 0) this.#commit(turnResult)
        return messages.promptAgain() ? undefined : this.#endWith('no_answer')
      case 'ask_for_call':
        this.#commit(turnResult)
        return messages.promptAgain(action.prompt) ? undefined : { status: 'no_answer', answer: action.failure }
      case 'continue':
        this.#commit(turnResult)
        return undefined
      case 'execute_tools': {
        const { uses, problem } = action
        if (problem !== undefined && !messages.rejectAnswer(goal.attempts))
          return this.#endWith(goal.failure.submission)
        this.#commit(turnResult)
        if (problem === undefined && mode === 'autonomous') messages.forgetRejectedAnswers()
        const rejected = problem === undefined ? {} : rejectSubmissions(uses, problem)
        const pending = { toolUses: uses, calls, results: rejected, ...this.#hosted.numberCalls(uses, calls) }
        const results = await this.#executeToolUses(pending)
        return mode === 'single-turn' ? outcomeOfResults(run, results) : undefined
      }
    }
  }

  /** Makes the turn part of the history. */
  #commit(turnResult: ModelTurnResult): void {
    this.messages.commitTurn(turnResult)
    this.#hosted.afterReply(turnResult.reply)
  }

  async #askModel(stage: TurnStage): Promise<ModelTurnResult | 'interrupted' | 'context_full' | 'code_lost'> {
    const { run } = this.calls
    const { turns } = run.counts
    this.#hosted.beforeTurn()
    showProgress(run, { type: 'model', turn: turns })
    const { state } = this.messages
    const request = {
      ...turnRequest(run, state, stage.type === 'step' ? stage.id : undefined),
      ...(this.calls.dataFlow.mayHoldAnswer && { isHeld: true as const }),
    }
    const summary = this.messages.summary(turns)
    try {
      return await this.#interruption.runCancellable(() => askModel(run, request, state.maxTokens, summary))
    } catch (thrown) {
      if (hasFailedWith(thrown, 'MODEL_CONTEXT_TOO_LONG')) return 'context_full'
      if (hasFailedWith(thrown, 'MODEL_CONTAINER_EXPIRED')) {
        this.#hosted.loseContainer()
        return 'code_lost'
      }
      throw thrown
    }
  }

  /**
   * Called when the messages are larger than the context window. The turn is repeated once, with compacted messages.
   */
  async #compactOrEnd(answer: string): Promise<AnswerOutcome | undefined> {
    const isRepeated = (await this.#compaction.force()) || this.#interruption.isRequested
    return isRepeated ? undefined : { status: 'context_full', answer }
  }

  /** Returns the end of the turns, with the latest text as the answer. */
  #endWith(status: AgentStatus): AnswerOutcome {
    return { status, answer: this.messages.state.lastReplyText }
  }

  async #executeToolUses(pending: PendingToolUses): Promise<readonly PendingBlock[]> {
    this.#pendingToolUses = pending
    const suspended = this.#suspendedCell ?? undefined
    this.#suspendedCell = null
    const { history } = this.messages.state
    const context = { runtime: this.codeRuntime, shared: this.#shared, interruption: this.#interruption, history }
    const results = await executeToolUses(context, pending, suspended)
    this.#endToolUses(results)
    return results
  }

  #endToolUses(results: readonly PendingBlock[]): void {
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
    const state: AgentTurnsState = {
      codeRuntime: await serializeRuntime(this.codeRuntime),
      conversation: this.messages.state,
      pendingToolUses: this.#pendingToolUses,
      suspendedCell,
      ...this.#shared.state,
    }
    const isBetweenTurns = suspendedCell === null && !this.#shared.hasCell // invariant 4
    await continueAsNew(state, isBetweenTurns && workflowInfo().targetWorkerDeploymentVersionChanged)
  }
}

const answerAccepted = 'The answer was accepted. Other tools of the same reply were not called.'
