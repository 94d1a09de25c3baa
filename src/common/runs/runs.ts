import type { Attachment } from './attachments.js'
import type { ClientTool } from './client-tools.js'
import type { ModelSettings, ReplyOptions } from './model-settings.js'
import type { Budget, BudgetAmounts } from './budget.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { AssistantBlock, Usage } from './messages.js'
import type { CompensationReport } from '../calls/compensation.js'
import type { CellOutcome } from '../calls/outcomes.js'
import type { BackendChoice } from './run-config.js'
import type { SandboxOwner } from './session-owner.js'
import type { Limits } from './limits.js'
import type { PlanStepResult, TaskMode } from './task-modes.js'

/** Overrides of the configuration for one run. */
export interface RunOptions {
  /** `PROVIDER/MODEL`, or a model of Anthropic. A list: when the first one fails, the next one answers. */
  readonly model?: string | readonly string[]
  readonly sandbox?: BackendChoice
  readonly limits?: Partial<Limits>
  /** Names of the only tools that the run has. Default: those of its agent, or all. */
  readonly tools?: readonly string[]
  /** Who asks, and for whom: every tool gets it, the model and its code do not. At most {@link maxContextBytes}. */
  readonly context?: JsonObject
}

/** Options of a run that has one program, or one model. */
interface SingleRunOptions extends RunOptions {
  /** Data for the code, which has it as variable `input_data`. The model sees only its type and size. */
  readonly input?: JsonValue
}

/** Argument of workflow `agent`. */
export interface AgentInput extends SingleRunOptions, ModelSettings {
  /** What the run may use before it pauses, or ends. Default: as configured. */
  readonly budget?: Budget
  readonly question: string
  /** Images and PDFs of the question. */
  readonly attachments?: readonly Attachment[]
  /** Name of an agent of the configuration. Default: all tools, with the instructions of `model`. */
  readonly agent?: string
  /** How the agent works on the question. Default: that of the agent, or as configured. */
  readonly mode?: TaskMode
  /** Name of the named session that executes the code. Default: a sandbox of the run's own. */
  readonly session?: string
}

/** Argument of workflow `program`: code with tools and no model. */
export interface ProgramInput extends SingleRunOptions {
  readonly source: string
}

/** Argument of workflow `agent` for a sub-agent. Only another run starts one. */
export interface SubagentInput extends AgentInput {
  readonly lease: BudgetLease
  /** Its session executes the code. Undefined: the sub-agent has a session of its own, or uses a named one. */
  readonly sandboxOwner?: SandboxOwner
  /** Idempotency key of the call. Absent: an earlier version started the run, whose calls have keys without it. */
  readonly callKey?: string
}

/** What a sub-agent may use of the budget of its parent. */
export interface BudgetLease {
  /** Idempotency key of the call. The parent knows the lease by it. */
  readonly key: string
  /** An absent amount has no bound by the parent. */
  readonly amounts: BudgetAmounts
}

/** What the client of a conversation may bring in place of what the configuration has. */
export interface ClientOptions extends ReplyOptions {
  /** Tools whose calls the client answers. The conversation has no others. Default: those of the configuration. */
  readonly clientTools?: readonly ClientTool[]
  /** Instructions for the model. Default: those of the agent, or as configured. */
  readonly instructions?: string
  /** Maximum output tokens of one reply. Default: as configured. */
  readonly maxTokens?: number
  /** JSON Schema of the answer. Default: that of the agent; without one, the answer is text. */
  readonly outputSchema?: JsonObject
  /**
   * The model has the client tools and nothing of the engine: no code, no compaction, no instructions. A reply with
   * calls is the answer to the message, and no call waits: the client sends their results with the messages of another
   * conversation. Needs `clientTools`; `toolChoice` needs it.
   */
  readonly isPlain?: true
}

/** Argument of activity `run.config`: what a run of any kind may override. */
export type RunConfigInput = SingleRunOptions &
  ModelSettings &
  ClientOptions &
  Pick<AgentInput, 'agent' | 'budget' | 'mode' | 'session'> &
  Partial<Pick<SubagentInput, 'lease' | 'sandboxOwner'>>

/** Bytes of a run's context as JSON. The events of every tool call contain it. */
export const maxContextBytes = 2_048

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
  /**
   * The reply was empty, twice; or, in mode `autonomous`, a text in place of an answer, `limits.answerAttempts` times.
   */
  | 'no_answer'
  /** The run has used its budget, and was to end then. */
  | 'budget_spent'
  /** The answer did not fit the output schema of the agent, `limits.answerAttempts` times. */
  | 'invalid_answer'
  /** The model gave up, in mode `autonomous` or `plan`: `answer` has its reason. */
  | 'gave_up'
  /** Mode `plan`: the model submitted no valid plan, `limits.answerAttempts` times. */
  | 'invalid_plan'
  /** Mode `single-turn`: the code or a call of the only turn failed. `answer` has the output and the error. */
  | 'tool_error'

/** Counters of a run. `usage` and `costUsd` include those of its sub-agents. */
export interface RunCounts {
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  readonly usage: Usage
  /** US dollars; null when the price of the model is unknown. */
  readonly costUsd: number | null
  /** Of the sub-agents of the run, and of theirs. Absent: it had none. */
  readonly subagents?: SubagentCounts
}

export interface SubagentCounts {
  readonly runs: number
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
}

/** Result of workflow `agent`. */
export interface AgentResult extends RunCounts {
  readonly status: AgentStatus
  readonly answer: string
  /** Only of an agent with an output schema that ended with `answered`: the answer, as the schema describes it. */
  readonly output?: JsonValue
  /** Absent: no call was compensated. */
  readonly compensation?: CompensationReport
  /** Only in mode `plan`, once there is one: the steps in the order of the plan. */
  readonly plan?: readonly PlanStepResult[]
}

/** Result of workflow `program`. */
export interface ProgramResult extends RunCounts {
  readonly outcome: CellOutcome
  /** Absent: no call was compensated. */
  readonly compensation?: CompensationReport
}

export const zeroUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }

export const zeroCounts: RunCounts = { turns: 0, cells: 0, toolCalls: 0, usage: zeroUsage, costUsd: 0 }

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
