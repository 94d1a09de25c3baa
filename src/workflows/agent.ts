import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../common/errors.js'
import { type AgentInput, type AgentResult, type AgentStatus, replyText } from '../common/runs.js'
import { registerInspectQuery } from './session/inspect-query.js'
import { continueAsNew } from './temporal/continue-as-new.js'
import { Conversation, type ConversationState } from './conversation/conversation.js'
import { interpretReply } from './conversation/interpret-reply.js'
import { modelTurn } from './temporal/activities.js'
import { ContinueAsNewPolicy } from './temporal/continue-as-new-policy.js'
import { recordSummary, recordOutcome } from './temporal/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import {
  scheduleIdlePark,
  serializeRuntime,
  withRuntime,
  type CodeRuntime,
  type CodeRuntimeState,
  createCodeRuntime,
} from './cell/code-runtime.js'
import { startPendingCalls } from './cell/run-cell.js'
import { addReplyUsage, type Run, type RunState, showProgress, startRun } from './run.js'
import { type SuspendedCell, executeToolUses, type PendingToolUses } from './conversation/execute-tool-uses.js'

/** What the next run of the chain must know. */
export interface AgentState extends RunState {
  readonly codeRuntime: CodeRuntimeState
  readonly conversation: ConversationState
  /** The reply that is being served; null between turns. */
  readonly pendingToolUses: PendingToolUses | null
  readonly suspendedCell: SuspendedCell | null
}

/** Workflow `agent`: question -> model -> code and tools -> ... -> answer. */
export async function agent(input: AgentInput, state?: AgentState): Promise<AgentResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.question)
    const run = await startRun(input, state)
    const agentRun = new AgentRun(run, input, state)
    registerInspectQuery(run, agentRun.codeRuntime)
    const ending = await withRuntime(agentRun.codeRuntime, () => agentRun.runToCompletion(state))
    recordOutcome(ending.status)
    return { ...ending, ...run.counts }
  })
}

interface AgentOutcome {
  readonly status: AgentStatus
  readonly answer: string
}

/** The loop of an agent, and all that it must carry into a fresh history. */
class AgentRun {
  readonly codeRuntime: CodeRuntime
  readonly #run: Run
  readonly #input: AgentInput
  readonly #conversation: Conversation
  readonly #continueAsNewPolicy: ContinueAsNewPolicy
  #pendingToolUses: PendingToolUses | null

  constructor(run: Run, input: AgentInput, state: AgentState | undefined) {
    this.#run = run
    this.#input = input
    this.#conversation = new Conversation(run.config.model.maxTokens, input.question, state?.conversation)
    this.#continueAsNewPolicy = new ContinueAsNewPolicy(run)
    this.#pendingToolUses = state?.pendingToolUses ?? null
    this.codeRuntime = createCodeRuntime(run, {
      idleMs: run.config.timeouts.idleMs,
      continueAsNewIfDue: (cell) =>
        this.#continueAsNewIfDue({ toolUseId: this.#pendingToolUses?.currentCell ?? '', cell }),
      state: state?.codeRuntime,
    })
  }

  /** @param state what an earlier run of the chain has left */
  async runToCompletion(state: AgentState | undefined): Promise<AgentOutcome> {
    const { counts, config } = this.#run
    startPendingCalls(this.#run, this.codeRuntime, state?.codeRuntime.pendingCalls.notStarted ?? [])
    if (this.#pendingToolUses) await this.#executeToolUses(this.#pendingToolUses, state?.suspendedCell ?? undefined)
    else if (state) scheduleIdlePark(this.codeRuntime)
    while (counts.turns < config.limits.turns) {
      await this.#continueAsNewIfDue(null)
      counts.turns += 1
      const ending = await this.#runTurn()
      if (ending) return ending
    }
    return { status: 'turn_limit', answer: this.#conversation.state.lastReplyText }
  }

  /** One turn of the model, and what it asks for. */
  async #runTurn(): Promise<AgentOutcome | undefined> {
    const run = this.#run
    const conversation = this.#conversation
    const { turns: turn } = run.counts
    const { limits, model, timeouts, toolSet } = run.config
    const tools = { digest: toolSet.digest, documentation: toolSet.documentation }
    showProgress(run, `the model answers (turn ${turn})`)
    const { history, pending, maxTokens } = conversation.state
    const request = { turn, model: { ...model, maxTokens }, limits, tools, history, pending }
    const turnResult = await modelTurn(request, timeouts, conversation.summary(turn)).catch(ignoreContextTooLong)
    if (!turnResult) return { status: 'context_full', answer: conversation.state.lastReplyText }
    const { reply, calls } = turnResult
    addReplyUsage(run, reply)
    conversation.recordReply(reply)
    const action = interpretReply(reply)
    switch (action.type) {
      case 'end':
        return { status: action.status, answer: action.answer }
      case 'truncated':
        return conversation.raiseTokenLimit() ? undefined : { status: 'truncated', answer: replyText(reply.content) }
      case 'prompt_again':
        return conversation.promptAgain()
          ? undefined
          : { status: 'no_answer', answer: conversation.state.lastReplyText }
      case 'continue':
        conversation.commitTurn(turnResult)
        return undefined
      case 'execute_tools':
        conversation.commitTurn(turnResult)
        await this.#executeToolUses({ toolUses: action.uses, calls, results: {} }, undefined)
        return undefined
    }
  }

  async #executeToolUses(pending: PendingToolUses, suspended: SuspendedCell | undefined): Promise<void> {
    this.#pendingToolUses = pending
    this.#conversation.addToolResults(await executeToolUses(this.#run, this.codeRuntime, pending, suspended))
    this.#pendingToolUses = null
  }

  /** Goes on in a fresh history when this one is long enough; then it never returns. */
  async #continueAsNewIfDue(suspendedCell: SuspendedCell | null): Promise<void> {
    if (!(await this.#continueAsNewPolicy.shouldContinue())) return
    const { config, counts, stored } = this.#run
    const { question: _, ...options } = this.#input
    const state: AgentState = {
      config,
      counts,
      stored,
      codeRuntime: await serializeRuntime(this.codeRuntime),
      conversation: this.#conversation.state,
      pendingToolUses: this.#pendingToolUses,
      suspendedCell,
    }
    await continueAsNew<typeof agent>({ ...options, question: '' }, state)
  }
}

/** What the model can't read any more ends the run with what it has; every other failure is the run's. */
function ignoreContextTooLong(thrown: unknown): undefined {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  if (!(cause instanceof ApplicationFailure && cause.type === contextTooLong)) throw thrown
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
