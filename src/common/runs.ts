import type { AssistantBlock, Usage } from './messages.js'
import type { CellOutcome } from './outcomes.js'
import type { BackendChoice } from './run-config.js'
import type { Limits } from './limits.js'

/** Overrides of the configuration for one run. */
export interface RunOptions {
  readonly model?: string
  readonly sandbox?: BackendChoice
  readonly limits?: Partial<Limits>
}

/** Argument of workflow `agent`. */
export interface AgentInput extends RunOptions {
  readonly question: string
}

/** Argument of workflow `program`: code with tools and no model. */
export interface ProgramInput extends RunOptions {
  readonly source: string
}

/** How a run ended. For any status but `answered`, `answer` may be partial or empty. */
export type AgentStatus =
  | 'answered'
  /** The run reached its turn limit. */
  | 'turn_limit'
  /** The model declined. */
  | 'refused'
  /** The reply reached its token limit, twice. */
  | 'truncated'
  /** The conversation is larger than the model's context window. */
  | 'context_full'
  /** The reply was empty, twice. */
  | 'no_answer'

/** Counters of a run. */
export interface RunCounts {
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  readonly usage: Usage
  /** US dollars; null when the price of the model is unknown. */
  readonly costUsd: number | null
}

/** Result of workflow `agent`. */
export interface AgentResult extends RunCounts {
  readonly status: AgentStatus
  readonly answer: string
}

/** Result of workflow `program`. */
export interface ProgramResult extends RunCounts {
  readonly outcome: CellOutcome
}

export const zeroUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  }
}

/** All input tokens: uncached, read from the cache, and written to it. */
export function promptTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

/** The text of a reply. */
export function replyText(content: readonly AssistantBlock[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('\n\n')
}
