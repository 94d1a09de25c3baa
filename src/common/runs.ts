import type { Chain } from './chain.js'
import type { AssistantBlock, ModelReply, SaidBlock, Usage } from './messages.js'
import type { CellOutcome } from './outcomes.js'
import type { BackendChoice, ModelPlan, ToolSet } from './plan.js'
import type { Limits } from './limits.js'
import type { DescribedCall } from './steps.js'

/** What a caller may say about one run; everything else is configuration. */
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

/** How a run ended. All but `answered` say why `answer` may be partial or empty. */
export type AgentStatus =
  | 'answered'
  /** The turns of the run are used up. */
  | 'turn_limit'
  /** The model declined. */
  | 'refused'
  /** The reply was cut at its token limit, twice. */
  | 'truncated'
  /** The conversation is larger than the model's context window. */
  | 'context_full'
  /** The model said nothing, twice. */
  | 'no_answer'

/** What every run counts. */
export interface RunCounts {
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  readonly usage: Usage
  /** US dollars; null when the price of the model is not known. */
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

/** Argument of activity `model.turn`. */
export interface ModelTurnInput {
  readonly turn: number
  readonly model: ModelPlan
  readonly limits: Limits
  /** Absent in histories from before tools were recorded. */
  readonly tools?: Pick<ToolSet, 'digest' | 'documentation'>
  /** What was said in earlier turns; null in the first. */
  readonly conversation: Chain | null
  /** What the user's side says now; empty when the model is to go on with its own words. */
  readonly said: readonly SaidBlock[]
}

/** Answer of activity `model.turn`. */
export interface ModelTurnResult {
  /** What is large in it is kept elsewhere, and so is what only the model itself reads again. */
  readonly reply: ModelReply
  /** The conversation with this turn in it, for a reply that is kept. */
  readonly conversation: Chain
  /** Of all that the model was sent in this turn, prompt and tools aside. */
  readonly conversationBytes: number
  /** What the host makes of each direct tool call, by tool_use id; `execute_code` is not among them. */
  readonly calls: Readonly<Record<string, DescribedCall>>
}

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  }
}

/** All tokens a model read in one call: fresh, from the cache, and into it. */
export function contextTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

/** The text of a reply. */
export function textOf(content: readonly AssistantBlock[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('\n\n')
}
