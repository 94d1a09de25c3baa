import { ActivityFailure, isCancellation } from '@temporalio/workflow'
import type { CompactionInput, CompactionResult } from '../../common/agent/model-turn.js'
import { defined } from '../../common/defined.js'
import { showProgress } from '../run/progress.js'
import type { Run } from '../run/run.js'
import type { Interruption } from '../temporal/interruption.js'
import { compactMessages } from '../temporal/model-activities.js'
import type { MessageHistory } from './message-history.js'
import { targetShare, turnRequest } from './turn-request.js'

/** Share of the target for the latest messages, which a summary does not replace. */
const keptShare = 1 / 2

/** Share of the window by which the messages must grow before the next compaction. */
const growthShare = 1 / 20

/** A forced compaction shortens the messages to at most this share, because the window is smaller than expected. */
const forcedShare = 3 / 4

/**
 * Decides when the messages of a run are compacted, by activity `model.compact`. The decision depends only on recorded
 * results: the tokens that the provider counted, and the recorded configuration.
 */
export class Compaction {
  readonly #run: Run
  readonly #messages: MessageHistory
  readonly #interruption: Interruption

  constructor(run: Run, messages: MessageHistory, interruption: Interruption) {
    this.#run = run
    this.#messages = messages
    this.#interruption = interruption
    this.showUse()
  }

  /** True when the next request would use more of the window than the configured share. */
  get isDue(): boolean {
    const { compaction, model } = this.#run.config
    const { history, compaction: last } = this.#messages.state
    const tokens = this.#messages.nextTurnTokens
    if (!compaction || this.#run.isHosted) return false
    if (history === null || tokens === null || model.contextWindow === undefined) return false
    return tokens > Math.max(compaction.threshold * model.contextWindow, last?.notBelow ?? 0)
  }

  /** Compacts the messages. An interruption ends the compaction. */
  async run(): Promise<void> {
    const { compaction, model } = this.#run.config
    const limit = (compaction?.threshold ?? 1) * (model.contextWindow ?? 0)
    await this.#compact(this.#messages.nextTurnTokens ?? 0, limit * targetShare, false)
  }

  /**
   * Compacts the messages once for a turn, because the provider has refused them.
   *
   * @returns false when the messages did not change
   */
  async force(): Promise<boolean> {
    const { compaction, model } = this.#run.config
    const { history, compaction: last } = this.#messages.state
    if (!compaction || this.#run.isHosted || history === null || last?.isForced === true) return false
    // The tokens of messages from a client are unknown, but these messages fill the window.
    const tokens = this.#messages.nextTurnTokens ?? model.contextWindow
    if (tokens === undefined) return false
    const limit = compaction.threshold * (model.contextWindow ?? Infinity)
    return this.#compact(tokens, Math.min(limit * targetShare, tokens * forcedShare), true)
  }

  /** Publishes in the progress of the run how much of the window is in use. */
  showUse(): void {
    const { lastTurnTokens: tokens } = this.#messages.state
    const window = this.#run.config.model.contextWindow
    this.#run.progress.context = tokens === null ? undefined : { tokens, window }
  }

  async #compact(tokens: number, targetTokens: number, isForced: boolean): Promise<boolean> {
    const { history, message } = this.#messages.state
    const { config, counts } = this.#run
    if (history === null) return false
    showProgress(this.#run, { type: 'compaction' })
    const skills = this.#run.skills.ofTurn(true)
    const { history: _, ...request } = turnRequest(this.#run, this.#messages.state, undefined)
    const next = { ...request, ...defined({ skills }) }
    const input: CompactionInput = {
      turn: counts.turns + 1,
      ...defined({ message }),
      model: config.model,
      history,
      tokens,
      targetTokens: Math.floor(targetTokens),
      keptTokens: Math.floor(targetTokens * keptShare),
      // No count is used for a forced compaction: the provider has refused messages for which its counter, or an
      // estimate, gave few tokens.
      ...(!isForced && { counted: { next, dueTokens: Math.floor(targetTokens / targetShare) } }),
    }
    const result = await this.#requestCompaction(input)
    if (result === 'interrupted') return false
    if (result?.summary) this.#run.countReply(result.summary)
    const left = result?.tokens ?? tokens
    const notBelow = left + growthShare * (config.model.contextWindow ?? left)
    if (result && result.shortened + result.summarized > 0) this.#run.skills.moveToPrompt()
    this.#messages.compact(result?.history ?? history, left, Math.floor(notBelow), isForced)
    this.showUse()
    return result !== undefined && result.shortened + result.summarized > 0
  }

  /**
   * Returns undefined when the compaction failed: the run continues with the unchanged messages, and the provider may
   * refuse them.
   */
  async #requestCompaction(input: CompactionInput): Promise<CompactionResult | 'interrupted' | undefined> {
    const { timeouts } = this.#run.config
    try {
      return await this.#interruption.runCancellable(() => compactMessages(input, timeouts))
    } catch (thrown) {
      if (thrown instanceof ActivityFailure && !isCancellation(thrown)) return undefined
      throw thrown
    }
  }
}
