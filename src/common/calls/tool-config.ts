import type { BudgetAmounts } from '../budget/budget.js'
import type { Caller, Effect } from './calls.js'
import type { DeferredConfig } from './deferred-calls.js'

/** What the calls of one service may ask models for in a run. */
export interface SamplingLimits {
  /** Maximum number of requests. */
  readonly requests: number
  /** Maximum number of tokens of all requests and replies. */
  readonly tokens: number
}

/** The property of a tool whose service may ask the model of the run during a call. */
export interface SamplingConfig extends SamplingLimits {
  /** Names the service: `MCP server github`. All tools with this name share the limits. */
  readonly from: string
}

/** The properties of a tool that the workflow needs. */
export interface ToolConfig {
  readonly name: string
  readonly allowedCallers: readonly Caller[]
  readonly effect: Effect
  /** Milliseconds one attempt may take. */
  readonly timeoutMs: number
  /** Maximum attempts while the tool throws; 1 for `effect: 'once'`. */
  readonly attempts: number
  /** Digest of the input's JSON Schema; of the whole definition of a tool of an MCP server. */
  readonly inputDigest: string
  /** `local`: the worker that has the sandbox may make the call by itself. Undefined: never. */
  readonly execution?: 'local'
  /** Set when the result arrives later. Undefined: the activity returns the result. */
  readonly deferred?: DeferredConfig
  /** The client of the run executes the calls: activity `tool.client` announces a call, and no worker runs it. */
  readonly isClientTool?: true
  /** The activity, workflow or operation of a remote tool. Undefined: a worker of durable-ptc runs the tool. */
  readonly remote?: RemoteTarget
  /** Deviations from the default intervals. `attempts` has the maximum of attempts. */
  readonly retry?: RetryIntervals
  /** A task queue for the calls of this tool. Workers with role `tools` that have the tool poll it. */
  readonly taskQueue?: string
  /** Maximum calls per second over all runs and workers. The tool gets its own task queue. */
  readonly rate?: ToolRate
  /**
   * Maximum number of concurrent calls, over all runs and workers, from 1 to 1,000. A call over the limit waits without
   * using a worker slot. Default: no limit. docs/guides/tools.md says how such a call waits.
   */
  readonly concurrency?: number
  /**
   * Set for a tool whose calls have locks, by their arguments. `sharedAs` is the name of the locks that it shares with
   * other tools. Undefined: the calls have none.
   */
  readonly lock?: { readonly sharedAs?: string }
  /**
   * Temporal's priority of a call among those that wait in the same task queue. `fairnessKey: { context: 'tenant' }`
   * takes the key from the run's context.
   */
  readonly priority?: ToolPriority
  /** True when a call may need the approval of a person. Undefined: no call does. */
  readonly approval?: true
  /** True when a call may ask people questions, and is executed again with their answers. Undefined: no call does. */
  readonly asks?: true
  /** Set when the service of the tool may ask the model of the run during a call. Undefined: it may not. */
  readonly samples?: SamplingConfig
  /** True when the tool returns a file: its result is the path in the sandbox. Undefined: its result is JSON. */
  readonly returnsFile?: true
  /** True when the tool has an inverse. Undefined: its calls can't be compensated. */
  readonly compensates?: true
}

/** The activity, workflow or operation that executes the calls of a remote tool. */
export type RemoteTarget = RemoteActivity | RemoteWorkflow | RemoteNexusOperation

/** An activity of a worker of another application. */
export interface RemoteActivity {
  readonly kind: 'activity'
  /** Activity type. */
  readonly type: string
  /** Undefined: the task queue of the workflows, where the activity belongs to the worker with the plugin. */
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
  /** Undefined: the task queue of the run. */
  readonly taskQueue?: string
  /** The workflow takes a `RemoteCall` as its second argument. */
  readonly passCall?: true
  /** The calls of the tool are sub-agents. */
  readonly agent?: SubagentTarget
}

/** The agent that a sub-agent runs. */
export interface SubagentTarget {
  /** Name of an agent of the configuration. Undefined: each call starts a clone of the agent that calls. */
  readonly name?: string
  /** The budget in the configuration of the agent. */
  readonly budget?: BudgetAmounts
  /** True when the session of the caller executes the code of the sub-agent. Undefined: it has its own session. */
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

/** Intervals in milliseconds, and the types of failures that are not retried. Undefined fields have their defaults. */
export interface RetryIntervals {
  readonly initialMs?: number
  readonly backoffCoefficient?: number
  readonly maximumMs?: number
  readonly nonRetryableErrorTypes?: readonly string[]
}

export interface ToolRate {
  /** Maximum calls per second, of all runs on all workers. */
  readonly perSecond: number
}

/** Temporal's priority of a call. */
export interface ToolPriority {
  /** From 1 (the first) to 5. Default 3. */
  readonly priorityKey?: number
  /** One key for all calls, or the name of a field of the run's context, such as the tenant. Default: none. */
  readonly fairnessKey?: string | { readonly context: string }
}

/** Returns whether a call of the tool begins only after the limiter has granted it a slot. */
export function isLimited({ concurrency, lock }: Pick<ToolConfig, 'concurrency' | 'lock'>): boolean {
  return concurrency !== undefined || lock !== undefined
}

/** Returns whether the calls of the tool are sub-agents that use the session of their caller. */
export function sharesSandbox({ remote }: Pick<ToolConfig, 'remote'>): boolean {
  return remote?.kind === 'workflow' && remote.agent?.sharesSandbox === true
}
