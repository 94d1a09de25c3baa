import type { Attachment } from '../conversation/attachments.js'
import type { DataLabels } from '../calls/data-flow.js'
import type { ClientTool } from '../calls/client-tools.js'
import type { ModelSettings, ReplyOptions } from '../agent/model-settings.js'
import type { Budget, BudgetAmounts } from '../budget/budget.js'
import type { FileUpload } from '../files/files.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { AssistantBlock, Usage } from '../agent/messages.js'
import type { CompensationReport } from '../calls/compensation.js'
import type { CallOutcome, CellOutcome } from '../calls/outcomes.js'
import type { LanguageChoice } from './language-names.js'
import type { BackendChoice } from './run-config.js'
import type { SandboxOwner } from './run-config.js'
import type { Limits } from './limits.js'
import type { NetworkOption } from './network.js'
import type { ImageChoice } from './sandbox-image.js'
import type { PlanStepResult, TaskMode } from '../agent/task-modes.js'

/** Overrides of the configuration for one run. */
export interface RunOptions {
  /** `PROVIDER/MODEL`, or a model of Anthropic. A list: when the first one fails, the next one answers. */
  readonly model?: string | readonly string[]
  readonly sandbox?: BackendChoice
  /**
   * The language of the code: `python`, `javascript` or `bash`; a list when each cell names its language. Default: that
   * of the agent, or as configured.
   */
  readonly language?: LanguageChoice
  readonly limits?: Partial<Limits>
  /**
   * Hosts that the code may reach, or `false` for none. Default: those of the agent, or as configured. An entry whose
   * headers name a credential must be an entry of the configuration or of an agent. docs/guides/network.md
   */
  readonly network?: NetworkOption | false
  /** Names of the tools of the run. Default: the tools of its agent, or all tools. */
  readonly tools?: readonly string[]
  /**
   * The context of the run, such as user and tenant. Every tool gets it; the model and its code do not. At most {@link
   * maxContextBytes}.
   */
  readonly context?: JsonObject
}

/** Options of a run of workflow `agent` or `program`. */
interface SingleRunOptions extends RunOptions {
  /** Data for the code, in variable `input_data`. The model sees only its type and size. */
  readonly input?: JsonValue
  /**
   * Files for the code, in `/tmp/in`. A run with files, also with none of them (`[]`), keeps what its code leaves in
   * `/tmp/out`. Default: as the agent or the configuration says.
   */
  readonly files?: readonly FileUpload[]
}

/** Argument of workflow `agent`. */
export interface AgentInput extends SingleRunOptions, ModelSettings {
  /** The budget of the run: when it is spent, the run pauses or ends. Default: as configured. */
  readonly budget?: Budget
  readonly question: string
  /** Images and PDFs of the question. */
  readonly attachments?: readonly Attachment[]
  /** Name of an agent of the configuration. Default: all tools, with the instructions of `model`. */
  readonly agent?: string
  /** The task mode of the agent. Default: the mode of the agent, or as configured. */
  readonly mode?: TaskMode
  /** Name of the named session that executes the code. Default: the run gets its own sandbox. */
  readonly session?: string
  /** Names of skills that are active from the start to the end of the run. Default: none. */
  readonly activeSkills?: readonly string[]
}

/** Argument of workflow `agent` for the next execution of a chain. The state has all other options. */
export type ContinuedAgentInput = Pick<Partial<SubagentInput>, 'lease' | 'callKey'>

/** Argument of workflow `program`: code with tools and no model. */
export interface ProgramInput extends SingleRunOptions {
  readonly source: string
}

/** Argument of workflow `call`: one call of a tool of the configuration, with no model and no code. */
export interface CallInput extends Pick<RunOptions, 'context'> {
  readonly tool: string
  readonly arguments: JsonObject
}

/** Result of workflow `call`. */
export interface CallResult {
  readonly outcome: CallOutcome
}

/** Argument of workflow `agent` for a sub-agent. Only another run starts one. */
export interface SubagentInput extends AgentInput, Partial<CloneOptions> {
  readonly lease: BudgetLease
  /**
   * The owner of the session that executes the code. Undefined: the sub-agent has its own session, or uses a named one.
   */
  readonly sandboxOwner?: SandboxOwner
  /** Idempotency key of the call. */
  readonly callKey: string
  /** The labels of what the caller may have put into the question. Absent: none. */
  readonly labels?: DataLabels
}

/** The part of its parent's budget that a sub-agent may use. */
export interface BudgetLease {
  /** Idempotency key of the call. The parent knows the lease by it. */
  readonly key: string
  /** An absent amount has no bound by the parent. */
  readonly amounts: BudgetAmounts
}

/** Options by which the client of a conversation replaces parts of the configuration. */
export interface ClientOptions extends ReplyOptions {
  /** Tools that the client executes. The conversation has no other tools. Default: the tools of the configuration. */
  readonly clientTools?: readonly ClientTool[]
  /** Instructions for the model. Default: the instructions of the agent, or as configured. */
  readonly instructions?: string
  /** Maximum output tokens of one reply. Default: as configured. */
  readonly maxTokens?: number
  /** JSON Schema of the answer. Default: the schema of the agent; without a schema, the answer is text. */
  readonly outputSchema?: JsonObject
  /**
   * True for a plain run: the model has only the client tools, without code, compaction, and instructions of the
   * engine. A reply with calls is the answer to the message, and no call waits: the client sends their results with the
   * messages of another conversation. Needs `clientTools`; `toolChoice` needs it.
   */
  readonly isPlain?: true
}

/** Argument of activity `run.config`: the options that a run of any kind may override. */
export type RunConfigInput = SingleRunOptions &
  ModelSettings &
  ClientOptions &
  Pick<AgentInput, 'agent' | 'budget' | 'mode' | 'session' | 'activeSkills'> &
  Partial<Pick<SubagentInput, 'lease' | 'sandboxOwner' | 'isClone'>> & {
    /** The session executes uses of environment tools by clients. The environment of a model is that of its agent. */
    readonly environment?: true
    /** The image of a session that a run holds. Other runs have that of their agent, or as configured. */
    readonly image?: ImageChoice
  }

/** Options of a run that its clones have, too. A clone has no tool that starts clones, and answers with a text. */
export interface CloneOptions
  extends
    Pick<AgentInput, 'agent' | 'model' | 'tools' | 'limits' | 'network'>,
    Pick<ClientOptions, 'instructions' | 'maxTokens'>,
    ModelSettings {
  readonly isClone: true
}

/** Maximum bytes of a run's context as JSON. The events of every tool call contain it. */
export const maxContextBytes = 2_048

/** The end of a run. For any status except `answered`, `answer` may be partial or empty. */
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
   * The reply was empty, twice; or, in mode `autonomous`, a text in place of an answer, three times.
   */
  | 'no_answer'
  /** The run has used its budget, with `whenSpent: 'end'`. */
  | 'budget_spent'
  /** The answer did not match the output schema of the agent, three times. */
  | 'invalid_answer'
  /** The model gave up, in mode `autonomous` or `plan`: `answer` has its reason. */
  | 'gave_up'
  /** Mode `plan`: the model submitted no valid plan, three times. */
  | 'invalid_plan'
  /** A rule on data, or a person, keeps the answer back: `answer` has the reason. */
  | 'withheld'
  /** Mode `single-turn`: the code or a call of the only turn failed. `answer` has the output and the error. */
  | 'tool_error'

/** `embedded`: the run is in a workflow of a user. */
export type RunKind = 'agent' | 'conversation' | 'program' | 'session' | 'call' | 'embedded'

/** Counters of a run. `usage` and `costUsd` include those of its sub-agents. */
export interface RunCounts {
  readonly turns: number
  readonly cells: number
  readonly toolCalls: number
  readonly usage: Usage
  /** US dollars; null when the price of the model is unknown. */
  readonly costUsd: number | null
  /** Counts of the sub-agents of the run, and of their sub-agents. Absent: there were none. */
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
  /**
   * The answer in the form of the output schema. Set only for an agent with an output schema that ended with
   * `answered`.
   */
  readonly output?: JsonValue
  /** Absent: no call was compensated. */
  readonly compensation?: CompensationReport
  /** Labels of the data that the answer may contain, with their origins. Absent: none that a rule names. */
  readonly labels?: DataLabels
  /** The steps in the order of the plan. Set only in mode `plan`, after the model has submitted a plan. */
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

/** Returns all input tokens: uncached, read from the cache, and written to it. */
export function promptTokens(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

/** Returns the text of a reply. */
export function replyText(content: readonly AssistantBlock[]): string {
  return content
    .flatMap((block) => (block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('\n\n')
}
