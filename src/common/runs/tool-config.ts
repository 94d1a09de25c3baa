import type { BudgetAmounts } from './budget.js'
import type { Caller, Effect } from '../calls/calls.js'
import type { DeferredConfig } from '../calls/deferred-calls.js'

/** The properties of a tool that the workflow needs. */
export interface ToolConfig {
  readonly name: string
  readonly allowedCallers: readonly Caller[]
  readonly effect: Effect
  /** Milliseconds one attempt may take. */
  readonly timeoutMs: number
  /** Maximum attempts of a tool that throws; 1 for `effect: 'once'`. */
  readonly attempts: number
  /** Digest of the input's JSON Schema. */
  readonly inputDigest: string
  /** `local`: the worker that has the sandbox may make the call by itself. Undefined: never. */
  readonly execution?: 'local'
  /** The result comes later. Undefined: from the activity. */
  readonly deferred?: DeferredConfig
  /** A client tool: activity `tool.client` announces a call, and no worker runs it. */
  readonly isClientTool?: true
  /** What executes a remote tool. Undefined: a worker of durable-ptc runs the tool. */
  readonly remote?: RemoteTarget
  /** Deviations from the default intervals. `attempts` has the maximum of attempts. */
  readonly retry?: RetryIntervals
  /** The task queue of a tool's own. Undefined: see `toolQueue`. */
  readonly taskQueue?: string
  /** Maximum calls per second of all runs together. The server enforces it for the tool's own task queue. */
  readonly rate?: ToolRate
  /** Maximum calls in progress at once, of all runs together. Undefined: no limit. */
  readonly concurrency?: number
  readonly priority?: ToolPriority
  /** A call may need the approval of a person. Undefined: none does. */
  readonly approval?: true
  /** The tool has an inverse. Undefined: its calls can't be compensated. */
  readonly compensates?: true
}

/** What executes the calls of a remote tool. */
export type RemoteTarget = RemoteActivity | RemoteWorkflow | RemoteNexusOperation

/** An activity that somebody else's worker has. */
export interface RemoteActivity {
  readonly kind: 'activity'
  /** Activity type. */
  readonly type: string
  /** Undefined: that of the workflows, where the activity belongs to the worker that has the plugin. */
  readonly taskQueue?: string
  /** Milliseconds a call may wait for a worker. */
  readonly scheduleToStartMs: number
  /** Undefined: the activity does not heartbeat. */
  readonly heartbeatMs?: number
  /** The activity takes a `RemoteCall` as its second argument. */
  readonly passCall?: true
}

/** A child workflow. */
export interface RemoteWorkflow {
  readonly kind: 'workflow'
  /** Workflow type. */
  readonly type: string
  /** Undefined: that of the run. */
  readonly taskQueue?: string
  /** The workflow takes a `RemoteCall` as its second argument. */
  readonly passCall?: true
  /** The tool is an agent of the configuration, and its calls are sub-agents. */
  readonly agent?: SubagentTarget
}

/** The agent that a sub-agent runs. */
export interface SubagentTarget {
  readonly name: string
  /** The agent's own. */
  readonly budget?: BudgetAmounts
  /** The session of the caller executes its code. Undefined: it has a session of its own. */
  readonly sharesSandbox?: true
}

export interface RemoteNexusOperation {
  readonly kind: 'nexus'
  readonly endpoint: string
  readonly service: string
  readonly operation: string
  /** The input of the operation is `{ arguments, call }`, with a `RemoteCall`. */
  readonly passCall?: true
}

/** Milliseconds, and the types of failures that are not retried. Undefined fields have their defaults. */
export interface RetryIntervals {
  readonly initialMs?: number
  readonly backoffCoefficient?: number
  readonly maximumMs?: number
  readonly nonRetryableErrorTypes?: readonly string[]
}

export interface ToolRate {
  readonly perSecond: number
}

/** Temporal's priority of a call. */
export interface ToolPriority {
  /** From 1, the first, to 5. */
  readonly priorityKey?: number
  /** The same for all calls, or a field of the run's context, such as the tenant. */
  readonly fairnessKey?: string | { readonly context: string }
  readonly fairnessWeight?: number
}

/** The calls of the tool are sub-agents that use the session of their caller. */
export function sharesSandbox({ remote }: Pick<ToolConfig, 'remote'>): boolean {
  return remote?.kind === 'workflow' && remote.agent?.sharesSandbox === true
}
