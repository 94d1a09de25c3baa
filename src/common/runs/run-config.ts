import type { Budget } from './budget.js'
import type { Limits } from './limits.js'
import type { RecordedMode } from './task-modes.js'
import type { Externalizable } from '../json/external-value.js'
import type { JsonObject } from '../json/json.js'
import type { ModelSettings, ReplyOptions, ServerTools } from './model-settings.js'
import type { SessionOwner } from './session-owner.js'
import type { SearchAttributeName } from './search-attributes.js'
import type { ToolConfig } from './tool-config.js'

/**
 * The tools as the model and its code know them, recorded when the run starts. Later deployments do not change them.
 */
export interface ToolSet {
  /** Digest of the whole tool set. A worker whose own tools have the same digest need not load it. */
  readonly digest: string
  /** `ToolDocumentation[]`: for the model. */
  readonly documentation: Externalizable
  /** `ToolCallSignature[]`: for the stubs in the sandbox. */
  readonly signatures: Externalizable
  /** JSON Schema of the result of each tool whose results activity `tool.result` checks, by the tool's name. */
  readonly outputSchemas?: Externalizable
  /** The names of the tools, if the run has not all tools of the configuration. */
  readonly names?: readonly string[]
  /** `ClientTool[]`. The run has these and no tools of the configuration. Undefined: it has no client tools. */
  readonly clientTools?: Externalizable
}

/** Identifies the tools of a run, so that a worker can find out whether its own are the same. */
export type ToolSetId = Pick<ToolSet, 'digest' | 'names' | 'clientTools'>

/** Data for the code of a run. */
export interface InputData {
  readonly value: Externalizable
  /** For the model: type and size, and the names of members. */
  readonly description: string
}

/** `anthropic`: no sandbox of ours, Anthropic executes the code. */
export type BuiltInBackend = 'docker' | 'wasm' | 'anthropic'

/** The built-in backends that execute code on hosts of workers. */
export const sandboxBackends = ['docker', 'wasm'] as const satisfies readonly BuiltInBackend[]

/** A built-in backend, or one from the configuration. */
export type BackendName = BuiltInBackend | (string & {})

/** `auto`: the host that opens the session uses its best backend. */
export type BackendChoice = BackendName | 'auto'

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** Heartbeat timeout of activities. */
  readonly heartbeatMs: number
  /** Schedule-to-start timeout of a step. Afterwards the session is rebuilt on another host. */
  readonly hostMs: number
  /** One model call, from the request to the last byte of the reply. */
  readonly modelMs: number
  /** Opening a sandbox. */
  readonly openMs: number
  /** A session whose code waits for this long is parked until a result or timer is due. */
  readonly parkMs: number
  /** An agent's session without a running cell for this long is parked until the next cell. */
  readonly idleMs: number
}

/** Limits of a named session. */
interface SessionConfig {
  /** Milliseconds without an execution after which the session ends and its sandbox is removed. */
  readonly idleMs: number
  /** Maximum executions; one more is refused. */
  readonly executions: number
}

interface ApprovalConfig {
  /** Milliseconds that a call waits for its approval; then it is denied. */
  readonly expiresMs: number
}

/** When to take a snapshot of a session, which limits how many steps a rebuild repeats. */
export interface SnapshotConfig {
  /** Take a snapshot when a rebuild would repeat this many steps… */
  readonly everySteps: number
  /** … or steps that took this many milliseconds together. */
  readonly everyMs: number
  /** A larger state is not stored. */
  readonly maxBytes: number
  /** Seconds the sandbox may spend on a snapshot. */
  readonly timeoutSeconds: number
}

/** When the messages of a run are compacted. */
export interface CompactionConfig {
  /** Share of the context window in use, from 0 to 1. */
  readonly threshold: number
  /** The provider clears old results by itself before that. Undefined: it does not. */
  readonly provider?: true
}

/** The configuration of a run, read once when it starts, and recorded. */
export interface RunConfig {
  readonly tools: readonly ToolConfig[]
  readonly toolSet: ToolSet
  readonly model: ModelConfig
  readonly backend: BackendChoice
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly sessions: SessionConfig
  readonly approvals: ApprovalConfig
  /** What an agent or a conversation may use. Undefined: no bound. */
  readonly budget?: Budget
  /** Undefined: messages are never compacted. */
  readonly compaction?: CompactionConfig
  /** Undefined: no snapshots. */
  readonly snapshots?: SnapshotConfig
  /** With more tools than this, the model searches their documentation. Undefined: every request has all of it. */
  readonly documentedTools?: number
  /** A provider may search the tools that only the model can call. Undefined: every request has their definitions. */
  readonly providerSearch?: true
  /** The model has tool `read_more`. Undefined: what was cut out of a result is lost to it. */
  readonly readMore?: true
  /** Workers may execute follow-up steps. Undefined: never. */
  readonly followUps?: true
  /** The workers redact texts, which workflow code can't. It leaves such texts out. */
  readonly isRedacted?: true
  /** The workers have an audit log. The workflow reports the calls that other workers execute. */
  readonly isAudited?: true
  /**
   * Namespace of the run, a part of its idempotency keys: a replay does not know it. Undefined: that of the workflow,
   * which is `default` in a replay.
   */
  readonly namespace?: string
  /**
   * Signs the completion tokens of the run. Random; only in a run with a tool that is deferred, or may need approval.
   */
  readonly completionSecret?: string
  /** The agent that the run began with; it has the configuration of that time. Undefined: none. */
  readonly agentName?: string
  /** Instructions for the model. Undefined: none. */
  readonly instructions?: Externalizable<string>
  /** JSON Schema of the answer. Undefined: the answer is text. */
  readonly outputSchema?: Externalizable<JsonObject>
  /** The model has nothing of the engine, and a reply with calls ends the work on a message. Undefined: it has. */
  readonly isPlain?: true
  /** How the agent works on its question. Undefined: `answer`. */
  readonly mode?: RecordedMode
  /** Mode `autonomous`: the tool that says whether the work is done. Undefined: the model alone does. */
  readonly doneCheck?: string
  /** Who asks: any JSON. `tenant` becomes a search attribute. Undefined: `{}`. */
  readonly context?: JsonObject
  readonly input?: InputData
  /** Its session executes the code of the run. Undefined: the run has a session of its own. */
  readonly sessionOwner?: SessionOwner
  /** Search attributes that the server had when the run started. An upsert of any other would fail for ever. */
  readonly searchAttributes?: readonly SearchAttributeName[]
}

/** The configuration of a worker for its runs. Activity `run.config` adds what is of one run, and the tool set. */
export type RunDefaults = Omit<
  RunConfig,
  | 'toolSet'
  | 'namespace'
  | 'completionSecret'
  | 'agentName'
  | 'instructions'
  | 'outputSchema'
  | 'isPlain'
  | 'doneCheck'
  | 'context'
  | 'input'
  | 'sessionOwner'
  | 'searchAttributes'
>

/** Whether the model has one line of each tool, and searches the documentation. */
export function hasToolSearch({ tools, documentedTools }: Pick<RunConfig, 'tools' | 'documentedTools'>): boolean {
  return documentedTools !== undefined && tools.length > documentedTools
}

/**
 * Whether the tools that only the model can call are too many for every request. A provider that can search them loads
 * those that the model has found.
 */
export function hasProviderSearch(config: Pick<RunConfig, 'tools' | 'documentedTools' | 'providerSearch'>): boolean {
  const { tools, documentedTools, providerSearch = false } = config
  const direct = tools.filter(({ allowedCallers }) => !allowedCallers.includes('code_execution'))
  return providerSearch && documentedTools !== undefined && direct.length > documentedTools
}

/** A model of a provider. */
export interface ModelId {
  /** Name of the provider in the configuration. */
  readonly provider: string
  /** The provider's own model id. */
  readonly name: string
  /** Tokens of the context window. Undefined: unknown. */
  readonly contextWindow?: number
}

export interface ModelConfig extends ModelId, ModelSettings, ReplyOptions {
  /** Maximum output tokens of one reply. */
  readonly maxTokens: number
  /** Undefined: none. */
  readonly serverTools?: ServerTools
  /** Asked in this order when the model fails. Undefined: none. */
  readonly fallbacks?: readonly ModelId[]
}
