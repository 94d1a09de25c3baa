import type { Budget } from '../budget/budget.js'
import type { DataFlowConfig } from '../calls/data-flow.js'
import type { EnvironmentConfig } from './environment.js'
import type { Limits, LoweredLimits } from './limits.js'
import type { RecordedMode } from '../agent/task-modes.js'
import type { RunFilesConfig } from '../files/files.js'
import type { Externalizable } from '../json/external-value.js'
import type { JsonObject } from '../json/json.js'
import type { ModelSettings, ReplyOptions, ServerTools } from '../agent/model-settings.js'
import type { ImageChoice, SandboxContents } from './sandbox-image.js'
import type { CloneOptions } from './runs.js'
import type { RunNetwork } from './network.js'
import type { HeldSession } from '../session/held-sessions.js'
import type { RunSkills } from '../agent/skills.js'
import type { SearchAttributeName } from './search-attributes.js'
import type { ToolConfig } from '../calls/tool-config.js'

/**
 * The tools of a run for the model and its code, recorded at the start of the run. Later deployments do not change
 * them.
 */
export interface ToolSet {
  /** Digest of the whole tool set. A worker with the same digest need not load the tool set. */
  readonly digest: string
  /** `ToolDocumentation[]`: for the model. */
  readonly documentation: Externalizable
  /** `ToolCallSignature[]`: for the stubs in the sandbox. */
  readonly signatures: Externalizable
  /** JSON Schema of the results that activity `tool.result` checks, by the tool's name. */
  readonly outputSchemas?: Externalizable
  /** The names of the tools, if the run does not have all tools of the configuration. */
  readonly names?: readonly string[]
  /** A source of the run's own. The run has its tools, and none of the configuration. */
  readonly source?: RecordedToolSource
  /** Name of the language of documentation and signatures. Absent: the default language. */
  readonly language?: string
}

/** A source of tools as data, from which every worker lists the same tools. */
export interface RecordedToolSource {
  /** `client`: the definition is a `ClientTool[]`. */
  readonly kind: 'client'
  readonly definition: Externalizable
}

/** Identifies the tools of a run, so that a worker can check whether it has the same tools. */
export type ToolSetId = Pick<ToolSet, 'digest' | 'names' | 'source' | 'language'>

/** Data for the code of a run. */
export interface InputData {
  readonly value: Externalizable
  /** Describes type, size and names of members for the model. */
  readonly description: string
}

/** The built-in values of `sandbox`. `anthropic`: Anthropic executes the code, without a sandbox of a worker. */
export type BuiltInBackend = 'docker' | 'wasm' | 'kubernetes' | 'anthropic'

/** The built-in backends that execute code on hosts of workers. */
export const sandboxBackends = ['docker', 'wasm'] as const satisfies readonly BuiltInBackend[]

/** A built-in backend, or one from the configuration. */
export type BackendName = BuiltInBackend | (string & {})

/** `auto`: the host that opens the session uses its best backend. */
export type BackendChoice = BackendName | 'auto'

/** The run that owns the session of a sub-agent. */
export interface SandboxOwner {
  readonly workflowId: string
  /** Idempotency key of the call of the run, by which the run knows the sub-agent and its sub-agents. */
  readonly key: string
  /** The image of the sandbox. Undefined: as configured. */
  readonly image?: ImageChoice
}

/** The owner of the session that executes the code of a run which has no session itself. */
export type SessionOwner =
  /** A named session of the task queue of the run. */
  | {
      readonly type: 'named'
      readonly name: string
      /** The backend that the run asked for. Undefined: any. */
      readonly sandbox?: BackendChoice
      /** The language of a session that starts for the run. Undefined: that of the configuration. */
      readonly language?: string
    }
  /** The session of the run that started this run as a sub-agent, or of the owner of that session. */
  | ({ readonly type: 'parent' } & SandboxOwner)

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** Heartbeat timeout of activities. */
  readonly heartbeatMs: number
  /** Schedule-to-start timeout of a step. Afterwards the session is rebuilt on another host. */
  readonly hostMs: number
  /** One model call, from the request to the last byte of the reply. */
  readonly modelMs: number
  /** A session is parked when its code has waited for this time, until a result or timer is due. */
  readonly parkMs: number
  /** An agent's session without a running cell for this long is parked until the next cell. */
  readonly idleMs: number
}

/** Limits of a named session. */
interface SessionConfig {
  /** Milliseconds without an execution after which the session ends and its sandbox is removed. */
  readonly idleMs: number
}

interface ApprovalConfig {
  /** Milliseconds that a call waits for its approval; then it is denied. */
  readonly expiresMs: number
}

/** Configuration of snapshots of a session. They limit the number of steps that a rebuild repeats. Only tests set it. */
export interface SnapshotConfig {
  /** A snapshot is taken when a rebuild would repeat this number of steps. Undefined: 50. */
  readonly everySteps?: number
  /** A snapshot is taken when a rebuild would repeat steps of this number of milliseconds. Undefined: 20,000. */
  readonly everyMs?: number
}

/** Configuration of the compaction of messages. */
export interface CompactionConfig {
  /** Share of the context window in use, from 0 to 1. */
  readonly threshold: number
  /** True when the provider clears old results by itself before the threshold. Undefined: it does not. */
  readonly provider?: true
}

/** The configuration of a run, read once when it starts, and recorded. */
export interface RunConfig {
  readonly tools: readonly ToolConfig[]
  readonly toolSet: ToolSet
  /** Name of the language of the run's code, in which `toolSet` describes the tools. */
  readonly language: string
  /** The tools by which the model uses the sandbox directly. Undefined: it has none. */
  readonly environment?: EnvironmentConfig
  readonly model: ModelConfig
  readonly backend: BackendChoice
  readonly limits: Limits
  /** Set only by tests. */
  readonly loweredLimits?: LoweredLimits
  readonly timeouts: Timeouts
  readonly sessions: SessionConfig
  readonly approvals: ApprovalConfig
  /** Where labelled data may go. Undefined: anywhere. */
  readonly dataFlow?: DataFlowConfig
  /** The budget of an agent or a conversation. Undefined: no bound. */
  readonly budget?: Budget
  /** Undefined: messages are never compacted. */
  readonly compaction?: CompactionConfig
  /** Undefined: no snapshots. */
  readonly snapshots?: SnapshotConfig
  /** Code is checked for mistakes before it runs. Undefined: it is not. */
  readonly checksCode?: true
  /** With more tools than this, the model searches their documentation. Undefined: every request has all of it. */
  readonly documentedTools?: number
  /** The workers redact texts, which workflow code can't. It leaves such texts out. */
  readonly isRedacted?: true
  /** The workers have an audit log. The workflow reports the calls that other workers execute. */
  readonly isAudited?: true
  /**
   * Namespace of the run, a part of its idempotency keys. It is recorded, because a replay has no namespace. Undefined:
   * the namespace of the workflow, which is `default` in a replay.
   */
  readonly namespace?: string
  /**
   * The random secret that signs the completion tokens of the run. Set only in a run with a tool that is deferred, may
   * need approval, or may ask people.
   */
  readonly completionSecret?: string
  /** Name of the agent of the run. The run has the configuration of the agent at its start. Undefined: none. */
  readonly agentName?: string
  /** Instructions for the model. Undefined: none. */
  readonly instructions?: Externalizable<string>
  /** JSON Schema of the answer. Undefined: the answer is text. */
  readonly outputSchema?: Externalizable<JsonObject>
  /**
   * True for a plain run: its prompt has no tools or instructions of the engine, and a reply with calls ends the work
   * on a message. Undefined: the run is not plain.
   */
  readonly isPlain?: true
  /** How the agent works on its question. Undefined: `answer`. */
  readonly mode?: RecordedMode
  /** Mode `autonomous`: name of the tool that checks whether the work is done. Undefined: only the model decides. */
  readonly doneCheck?: string
  /** The context of the run, such as the requester. `tenant` becomes a search attribute. Undefined: `{}`. */
  readonly context?: JsonObject
  readonly input?: InputData
  /** The image of the run's sandbox. Undefined: as its host is configured. */
  readonly image?: ImageChoice
  /** What programs find in the sandbox, for the prompt of each turn. Undefined: unknown. */
  readonly contents?: Externalizable<SandboxContents>
  /** The options with which a clone of the run starts. Set only in a run with a tool that starts clones. */
  readonly clone?: CloneOptions
  /** Uploads and artifacts. Undefined: the run has no files. */
  readonly files?: RunFilesConfig
  /** The skills of the run. Undefined: it has none. */
  readonly skills?: RunSkills
  /** The network of the code of the run. Undefined: it has none. */
  readonly network?: RunNetwork
  /** The owner of the session that executes the code of the run. Undefined: the run has its own session. */
  readonly sessionOwner?: SessionOwner
  /** The sandboxes that the run has besides its own. Undefined: none. */
  readonly heldSessions?: readonly HeldSession[]
  /**
   * Search attributes that the server had when the run started. An upsert of any other one would fail at every attempt.
   */
  readonly searchAttributes?: readonly SearchAttributeName[]
}

/** The configuration of a worker for its runs. Activity `run.config` adds the members of one run, and the tool set. */
export type RunDefaults = Omit<
  RunConfig,
  | 'tools'
  | 'toolSet'
  | 'dataFlow'
  | 'language'
  | 'environment'
  | 'namespace'
  | 'completionSecret'
  | 'agentName'
  | 'instructions'
  | 'outputSchema'
  | 'isPlain'
  | 'doneCheck'
  | 'context'
  | 'input'
  | 'image'
  | 'contents'
  | 'clone'
  | 'files'
  | 'skills'
  | 'network'
  | 'sessionOwner'
  | 'heldSessions'
  | 'searchAttributes'
>

/** Returns whether the prompt has one line for each tool, and the model searches the documentation. */
export function hasToolSearch({ tools, documentedTools }: Pick<RunConfig, 'tools' | 'documentedTools'>): boolean {
  return documentedTools !== undefined && tools.length > documentedTools
}

/**
 * Returns true when every request would contain too many tools that only the model can call. A provider that can search
 * tools then loads only the tools that the model has found.
 */
export function hasProviderSearch(config: Pick<RunConfig, 'tools' | 'documentedTools'>): boolean {
  const { tools, documentedTools } = config
  const direct = tools.filter(({ allowedCallers }) => !allowedCallers.includes('code_execution'))
  return documentedTools !== undefined && direct.length > documentedTools
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
  /** Tools that the server of the model executes. Undefined: none. */
  readonly serverTools?: ServerTools
  /** Models that are asked in this order when the model fails. Undefined: none. */
  readonly fallbacks?: readonly ModelId[]
}
