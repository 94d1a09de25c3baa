import type { ModelReply, ToolUseBlock } from '../../../common/agent/messages.js'
import type { ModelTurnResult } from '../../../common/agent/model-turn.js'
import type { Run } from '../../run/run.js'
import type { PendingToolUses } from '../execute-tool-uses.js'
import { afterReply, endStaleCode, loseContainer, numberCalls } from './hosted-code.js'
import type { MessageHistory } from '../message-history.js'

/** Tracks code that Anthropic executes over the turns of a run. Does nothing in runs with another sandbox. */
export class HostedTurns {
  readonly #run: Run
  readonly #messages: MessageHistory

  constructor(run: Run, messages: MessageHistory) {
    this.#run = run
    this.#messages = messages
  }

  get isUsed(): boolean {
    return this.#run.isHosted
  }

  beforeTurn(): void {
    if (!this.isUsed) return
    const { hosted, state } = this.#messages
    this.#messages.setHosted(endStaleCode(hosted, state.pending, Date.now()))
  }

  /** Called when the reply has become part of the history. */
  afterReply(reply: ModelReply): void {
    if (!this.isUsed) return
    const { state, cells } = afterReply(this.#messages.hosted, reply, this.#run.counts.cells)
    this.#messages.setHosted(state)
    this.#run.count({ cells })
  }

  loseContainer(): void {
    this.#messages.setHosted(loseContainer(this.#messages.hosted, 'expired'))
  }

  /** Numbers the calls of hosted code. Also counts a turn that only continues code with calls that may be executed. */
  numberCalls(
    uses: readonly ToolUseBlock[],
    calls: ModelTurnResult['calls'],
  ): Pick<PendingToolUses, 'hostedCalls'> | undefined {
    if (!this.isUsed) return undefined
    const { state, positions } = numberCalls(this.#messages.hosted, uses)
    const continuesCode = uses.every(({ id }) => positions[id] && calls[id]?.refused === null)
    const isFree = continuesCode && state.freeTurns < this.#run.config.limits.callsPerRun
    this.#messages.setHosted({ ...state, freeTurns: state.freeTurns + (isFree ? 1 : 0) })
    return { hostedCalls: positions }
  }
}
