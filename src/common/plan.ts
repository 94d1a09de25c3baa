import type { Caller, Effect } from './calls.js'
import type { Limits } from './limits.js'
import type { SnapshotPlan } from './snapshots.js'
import type { Held } from './values.js'

/** What the workflow must know of a tool to decide; the rest stays with the worker. */
export interface ToolPlan {
  readonly name: string
  readonly allowedCallers: readonly Caller[]
  readonly effect: Effect
  /** Milliseconds one attempt may take. */
  readonly timeoutMs: number
  /** Attempts when the tool throws; 1 for `effect: 'once'`. */
  readonly attempts: number
  /** Digest of the input's JSON Schema. Absent in plans from before it was recorded. */
  readonly inputDigest?: string
}

/** The tools as the model and its code know them: those of the run's beginning, whatever is deployed meanwhile. */
export interface ToolSet {
  /** Digest of all of it. A worker whose own tools have the same digest need not load it. */
  readonly digest: string
  /** `ToolDocumentation[]`: for the model. */
  readonly documentation: Held
  /** `ToolCallSignature[]`: for the stubs in the sandbox. */
  readonly signatures: Held
}

export type BuiltInBackend = 'docker' | 'wasm'

/** A backend of the engine, or one that the configuration brings. */
export type BackendName = BuiltInBackend | (string & {})

/** `auto`: the host that opens the session takes the best it has. */
export type BackendChoice = BackendName | 'auto'

/** How long the engine waits for its parts; milliseconds. */
export interface Timings {
  /** A worker that is silent for so long in the middle of an activity is dead. */
  readonly heartbeatMs: number
  /** A host that does not take a session's step for so long is gone: the session is rebuilt elsewhere. */
  readonly hostMs: number
  /** One model call, from request to its last byte. */
  readonly modelMs: number
  /** Opening a sandbox. */
  readonly openMs: number
  /** Code that waits for so long gives its sandbox back until something arrives. */
  readonly parkMs: number
  /** A sandbox in which an agent runs nothing for so long is given back until the next cell. */
  readonly idleMs: number
}

/** What a session that outlives one run may do. */
export interface SessionPlan {
  /** Milliseconds without an execution after which it ends and its sandbox is removed. */
  readonly idleMs: number
  /** Executions it takes; one more is refused. */
  readonly executions: number
}

/** Everything about a run that comes from configuration, read once at its start and recorded. */
export interface RunPlan {
  readonly tools: readonly ToolPlan[]
  /** Absent in plans from before it was recorded: each worker then uses its own tools. */
  readonly toolSet?: ToolSet
  readonly model: ModelPlan
  readonly backend: BackendChoice
  readonly limits: Limits
  readonly timings: Timings
  readonly sessions: SessionPlan
  /** Undefined: none are made. So it is in plans that were recorded before there were any. */
  readonly snapshots?: SnapshotPlan
}

export interface ModelPlan {
  readonly provider: string
  readonly name: string
  /** Output tokens one reply may have. */
  readonly maxTokens: number
}
