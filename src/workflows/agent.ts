/*
 * Workflow `agent`: a question, turns of a model with code and tools, an answer.
 *
 * Owns: the loop of turns, its limits, the status that ends the run, and what the run takes through continue-as-new.
 * Boundary: `conversation/` says what a reply means and what the model reads next, `cell/` runs its code. The workflow
 * never has the conversation's text: activity `model.turn` keeps the history in the value store.
 *
 * Invariants:
 * 1. A turn is counted before the model is asked. There are at most `limits.turns` turns, repeated ones included.
 * 2. A reply enters the history of the conversation with all tool uses, or not at all (truncated, empty). A tool use of
 *    a reply that did not enter it is not executed.
 * 3. The next turn starts when every tool use of the last reply has its result.
 * 4. The run continues as new between two turns, or while a cell waits. No call is in progress then, and results that
 *    are recorded are not computed again.
 * 5. The session is closed in every case but continue-as-new, which hands it to the next execution.
 */

import { ActivityFailure, ApplicationFailure, workflowInfo } from '@temporalio/workflow'
import type { ErrorCode } from '../common/errors.js'
import type { JsonValue } from '../common/json.js'
import { requesterOf } from '../common/requester.js'
import { type AgentInput, type AgentResult, type AgentStatus, replyText } from '../common/runs.js'
import { askModel } from './conversation/ask-model.js'
import { Conversation, type ConversationState } from './conversation/conversation.js'
import { interpretReply } from './conversation/interpret-reply.js'
import { ContinueAsNewPolicy, continueAsNew, continueAsNewUpgraded } from './temporal/continue-as-new.js'
import { recordSummary, recordOutcome } from './temporal/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import { publishEnd } from './temporal/search-attributes.js'
import {
  scheduleIdlePark,
  serializeRuntime,
  withRuntime,
  type CodeRuntime,
  type CodeRuntimeState,
  createCodeRuntime,
  registerInspectQuery,
} from './cell/code-runtime.js'
import { startPendingCalls } from './cell/run-cell.js'
import { showProgress } from './progress.js'
import { addReplyUsage, type Run, type RunState, runState, startRun } from './run.js'
import {
  type SuspendedCell,
  executeToolUses,
  type PendingToolUses,
  rejectAnswers,
} from './conversation/execute-tool-uses.js'

/** The state for the next execution of the continue-as-new chain. */
export interface AgentState extends RunState {
  readonly codeRuntime: CodeRuntimeState
  readonly conversation: ConversationState
  /** The tool uses in progress; null between turns. */
  readonly pendingToolUses: PendingToolUses | null
  /** The cell that waits; null when none does. */
  readonly suspendedCell: SuspendedCell | null
}

/** Workflow `agent`: answers a question with turns of a model, its code and its tools. */
export async function agent(input: AgentInput, state?: AgentState): Promise<AgentResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.question)
    const { question, ...options } = input
    const run = await startRun({ kind: 'agent', options, state })
    const agentRun = new AgentRun(run, question, state)
    registerInspectQuery(run, agentRun.codeRuntime)
    const outcome = await publishEnd(
      run,
      () => withRuntime(agentRun.codeRuntime, () => agentRun.runToCompletion(state)),
      ({ status }) => status,
    )
    recordOutcome(outcome.status)
    return { ...outcome, ...run.counts }
  })
}

interface AgentOutcome {
  readonly status: AgentStatus
  readonly answer: string
  readonly output?: JsonValue
}

/** The loop of an agent, with the state that it takes through continue-as-new. */
class AgentRun {
  readonly codeRuntime: CodeRuntime
  readonly #run: Run
  readonly #conversation: Conversation
  readonly #continueAsNewPolicy: ContinueAsNewPolicy
  #pendingToolUses: PendingToolUses | null

  constructor(run: Run, question: string, state: AgentState | undefined) {
    this.#run = run
    this.#conversation = new Conversation(run.config.model.maxTokens, question, state?.conversation)
    this.#continueAsNewPolicy = new ContinueAsNewPolicy(run.callSlots, run.config.limits.historyEvents)
    this.#pendingToolUses = state?.pendingToolUses ?? null
    this.codeRuntime = createCodeRuntime(run, {
      idleMs: run.config.timeouts.idleMs,
      isContinueAsNewDue: () => this.#continueAsNewPolicy.isDue,
      continueAsNewIfDue: (cell) =>
        this.#continueAsNewIfDue({ toolUseId: this.#pendingToolUses?.currentCell ?? '', cell }),
      state: state?.codeRuntime,
    })
  }

  /** @param state of the same run in the execution before this one */
  async runToCompletion(state: AgentState | undefined): Promise<AgentOutcome> {
    const { counts, config } = this.#run
    startPendingCalls(this.#run, this.codeRuntime, state?.codeRuntime.pendingCalls.notStarted ?? [])
    if (this.#pendingToolUses) await this.#executeToolUses(this.#pendingToolUses, state?.suspendedCell ?? undefined)
    else if (state) scheduleIdlePark(this.codeRuntime)
    for (let isFirst = true; counts.turns < config.limits.turns; isFirst = false) {
      // Not before the first turn: each execution of a run makes progress, also when none of them can be upgraded.
      if (!isFirst && this.#continueAsNewPolicy.isUpgradeDue) await this.#tryContinueAsNew(null)
      await this.#continueAsNewIfDue(null)
      counts.turns += 1
      const outcome = await this.#runTurn()
      if (outcome) return outcome
    }
    return { status: 'turn_limit', answer: this.#conversation.state.lastReplyText }
  }

  /** One turn of the model, with the tool uses of its reply. Undefined when another turn follows. */
  async #runTurn(): Promise<AgentOutcome | undefined> {
    const run = this.#run
    const conversation = this.#conversation
    const { turns: turn } = run.counts
    const { limits, toolSet, instructions, outputSchema, input } = run.config
    const { signatures: _, outputSchemas: __, ...tools } = toolSet
    const agent = {
      ...(instructions !== undefined && { instructions }),
      ...(outputSchema && { outputSchema }),
      ...(input && { inputDescription: input.description }),
    }
    showProgress(run, { type: 'model', turn })
    const { history, pending, maxTokens } = conversation.state
    const requester = requesterOf(run.config.context)
    const asked = { history, pending, ...(requester && { requester }) }
    const request = { turn, limits, tools, ...agent, ...asked }
    const asking = askModel(run, request, maxTokens, conversation.summary(turn))
    const turnResult = await asking.catch(ignoreContextTooLong)
    if (!turnResult) return { status: 'context_full', answer: conversation.state.lastReplyText }
    const { reply, calls } = turnResult
    addReplyUsage(run, reply)
    conversation.recordReply(reply)
    const hasSchema = outputSchema !== undefined
    const action = interpretReply(reply, { hasSchema, submitted: turnResult.answer })
    switch (action.type) {
      case 'end': {
        const { status, answer, output } = action
        return { status, answer, ...(output !== undefined && { output }) }
      }
      case 'ask_for_answer':
        if (!conversation.rejectAnswer(limits.answerAttempts)) return this.#invalidAnswer()
        conversation.commitTurn(turnResult)
        conversation.askForAnswer()
        return undefined
      case 'truncated':
        return conversation.raiseTokenLimit() ? undefined : { status: 'truncated', answer: replyText(reply.content) }
      case 'prompt_again':
        return conversation.promptAgain()
          ? undefined
          : { status: 'no_answer', answer: conversation.state.lastReplyText }
      case 'continue':
        conversation.commitTurn(turnResult)
        return undefined
      case 'execute_tools': {
        const { uses, problem } = action
        if (problem !== undefined && !conversation.rejectAnswer(limits.answerAttempts)) return this.#invalidAnswer()
        conversation.commitTurn(turnResult)
        const results = problem === undefined ? {} : rejectAnswers(uses, problem)
        await this.#executeToolUses({ toolUses: uses, calls, results }, undefined)
        return undefined
      }
    }
  }

  #invalidAnswer(): AgentOutcome {
    return { status: 'invalid_answer', answer: this.#conversation.state.lastReplyText }
  }

  async #executeToolUses(pending: PendingToolUses, suspended: SuspendedCell | undefined): Promise<void> {
    this.#pendingToolUses = pending
    this.#conversation.addToolResults(await executeToolUses(this.#run, this.codeRuntime, pending, suspended))
    this.#pendingToolUses = null
  }

  /** Undefined when it is not due: every call would wait for a promise. */
  #continueAsNewIfDue(suspendedCell: SuspendedCell | null): Promise<void> | undefined {
    return this.#continueAsNewPolicy.isDue ? this.#tryContinueAsNew(suspendedCell) : undefined
  }

  /** Continues the run as new, and then never returns, unless calls in progress take too long. */
  async #tryContinueAsNew(suspendedCell: SuspendedCell | null): Promise<void> {
    if (!(await this.#continueAsNewPolicy.attempt())) return
    const codeRuntime = await serializeRuntime(this.codeRuntime)
    const state: AgentState = {
      ...runState(this.#run),
      codeRuntime,
      conversation: this.#conversation.state,
      pendingToolUses: this.#pendingToolUses,
      suspendedCell,
    }
    const isUpgraded = suspendedCell === null && workflowInfo().targetWorkerDeploymentVersionChanged
    const next = isUpgraded ? continueAsNewUpgraded<typeof agent> : continueAsNew<typeof agent>
    // The state has the recorded configuration, with everything that the input said.
    await next(this.#run, { question: '' }, state)
  }
}

/** A conversation that no longer fits into the model's context ends the run; every other failure fails it. */
function ignoreContextTooLong(thrown: unknown): undefined {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  if (!(cause instanceof ApplicationFailure && cause.type === contextTooLong)) throw thrown
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
