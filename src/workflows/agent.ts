import { ActivityFailure, ApplicationFailure, patched } from '@temporalio/workflow'
import type { ErrorCode } from '../common/errors.js'
import { type AgentInput, type AgentResult, type AgentStatus, textOf } from '../common/runs.js'
import { answerInspect } from './answer-inspect.js'
import { continueRun } from './continue-run.js'
import { Conversation, type ConversationState } from './conversation.js'
import { decide } from './decide.js'
import { modelTurn } from './engine.js'
import { FreshHistory } from './fresh-history.js'
import { describeInMemo, recordOutcome } from './memo.js'
import { neverHang } from './never-hang.js'
import { goOnIdle, handOver, inNotebook, type Notebook, type NotebookState, openNotebook } from './notebook.js'
import { resumeCalls } from './run-cell.js'
import { countReply, type Run, type RunState, showProgress, startRun } from './run.js'
import { type LeftCell, serveReply, type Serving } from './serve-reply.js'

/** What the next run of the chain must know. */
export interface AgentState extends RunState {
  readonly notebook: NotebookState
  readonly conversation: ConversationState
  /** The reply that is being served; null between turns. */
  readonly serving: Serving | null
  readonly left: LeftCell | null
}

/** Changes that old histories do not know of. */
const patches = {
  /** A sandbox that no code uses is given back in whichever history that is. */
  idleGoesOn: 'idle-goes-on',
} as const

/** Workflow `agent`: question -> model -> code and tools -> ... -> answer. */
export async function agent(input: AgentInput, state?: AgentState): Promise<AgentResult> {
  return neverHang(async () => {
    describeInMemo(input.question)
    const run = await startRun(input, state)
    const talk = new AgentRun(run, input, state)
    answerInspect(run, talk.notebook)
    const ending = await inNotebook(talk.notebook, () => talk.toItsEnd(state))
    recordOutcome(ending.status)
    return { ...ending, ...run.counts }
  })
}

interface Ending {
  readonly status: AgentStatus
  readonly answer: string
}

/** The loop of an agent, and all that it must carry into a fresh history. */
class AgentRun {
  readonly notebook: Notebook
  readonly #run: Run
  readonly #input: AgentInput
  readonly #conversation: Conversation
  readonly #history: FreshHistory
  #serving: Serving | null

  constructor(run: Run, input: AgentInput, state: AgentState | undefined) {
    this.#run = run
    this.#input = input
    this.#conversation = new Conversation(run.plan.model.maxTokens, input.question, state?.conversation)
    this.#history = new FreshHistory(run)
    this.#serving = state?.serving ?? null
    this.notebook = openNotebook(run, {
      idleMs: run.plan.timings.idleMs,
      mayContinue: (cell) => this.#mayContinue({ use: this.#serving?.current ?? '', cell }),
      state: state?.notebook,
    })
  }

  /** @param state what an earlier run of the chain has left */
  async toItsEnd(state: AgentState | undefined): Promise<Ending> {
    const { counts, plan } = this.#run
    resumeCalls(this.#run, this.notebook, state?.notebook.openCalls.waiting ?? [])
    if (this.#serving) await this.#serve(this.#serving, state?.left ?? undefined)
    else if (state && patched(patches.idleGoesOn)) goOnIdle(this.notebook)
    while (counts.turns < plan.limits.turns) {
      await this.#mayContinue(null)
      counts.turns += 1
      const ending = await this.#turn()
      if (ending) return ending
    }
    return { status: 'turn_limit', answer: this.#conversation.state.lastText }
  }

  /** One turn of the model, and what it asks for. */
  async #turn(): Promise<Ending | undefined> {
    const run = this.#run
    const conversation = this.#conversation
    const { turns: turn } = run.counts
    const { limits, model, timings, toolSet } = run.plan
    const tools = toolSet && { digest: toolSet.digest, documentation: toolSet.documentation }
    showProgress(run, `the model answers (turn ${turn})`)
    const { past, said, maxTokens } = conversation.state
    const request = { turn, model: { ...model, maxTokens }, limits, ...(tools && { tools }), conversation: past, said }
    const answered = await modelTurn(request, timings, conversation.summary(turn)).catch(unlessContextFull)
    if (!answered) return { status: 'context_full', answer: conversation.state.lastText }
    const { reply, calls } = answered
    countReply(run, reply)
    conversation.hear(reply)
    const decision = decide(reply)
    switch (decision.type) {
      case 'end':
        return { status: decision.status, answer: decision.answer }
      case 'more_room':
        return conversation.giveRoom() ? undefined : { status: 'truncated', answer: textOf(reply.content) }
      case 'nudge':
        return conversation.nudge() ? undefined : { status: 'no_answer', answer: conversation.state.lastText }
      case 'continue':
        conversation.keep(answered)
        return undefined
      case 'serve':
        conversation.keep(answered)
        await this.#serve({ uses: decision.uses, calls, results: {} }, undefined)
        return undefined
    }
  }

  async #serve(serving: Serving, left: LeftCell | undefined): Promise<void> {
    this.#serving = serving
    this.#conversation.answer(await serveReply(this.#run, this.notebook, serving, left))
    this.#serving = null
  }

  /** Goes on in a fresh history when this one is long enough; then it never returns. */
  async #mayContinue(left: LeftCell | null): Promise<void> {
    if (!(await this.#history.isDue())) return
    const { plan, counts, stored } = this.#run
    const { question: _, ...options } = this.#input
    const state: AgentState = {
      plan,
      counts,
      stored,
      notebook: await handOver(this.notebook),
      conversation: this.#conversation.state,
      serving: this.#serving,
      left,
    }
    await continueRun<typeof agent>({ ...options, question: '' }, state)
  }
}

/** What the model can't read any more ends the run with what it has; every other failure is the run's. */
function unlessContextFull(thrown: unknown): undefined {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  if (!(cause instanceof ApplicationFailure && cause.type === contextTooLong)) throw thrown
}

const contextTooLong: ErrorCode = 'MODEL_CONTEXT_TOO_LONG'
