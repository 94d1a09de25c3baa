import type { Externalizable } from '../json/external-value.js'
import type { DeferredInput } from './deferred-calls.js'
import type { JsonObject } from '../json/json.js'
import type { Limits } from '../runs/limits.js'
import type { CallStatus } from './outcomes.js'
import type { ToolSet } from '../runs/run-config.js'
import type { SessionRef } from '../session/session.js'
import type { FollowUpStep } from '../session/steps.js'

/** The caller of a tool: the model by a `tool_use` block, or code that runs in a cell. */
export type Caller = 'direct' | 'code_execution'

/** The kind of effect a tool has. It decides what happens when the outcome of a call is unknown. */
export type Effect =
  /** Changes nothing: retried freely. */
  | 'read'
  /** Same key, same effect: retried with the same idempotency key. */
  | 'idempotent'
  /** Must not happen twice: never retried; a lost outcome is reported as `outcome_unknown`. */
  | 'once'

/** Attempts of a call in addition to its tool's own, for attempts that end with their worker. */
export const lostWorkerRetries = 5

/** How a call is executed. */
export type Execution =
  /** As an activity: recorded before and after. */
  | 'activity'
  /** Where the sandbox is, only for `effect: 'read'`: recorded together with what the code does next. */
  | 'local'

/** The position of a call in its run. Stable over retries, rebuilds, reset and continue-as-new. */
export interface CallPosition {
  /** Model turn, from 1; 0 for a program that runs without a model. */
  readonly turn: number
  /** Cell of the run, from 1; 0 for a direct call. */
  readonly cell: number
  /**
   * From 1. For a call from code: its number in the session (see `RequestedCall.index`). For a direct call: its
   * position among the direct calls of its turn.
   */
  readonly index: number
  /** Id of the tool use with the code that made the call. Only of code of a model; not a part of the identity. */
  readonly toolUseId?: string
}

/** One call, as the tool gets it. */
export interface ToolCallInput {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  /** Identity of the call, derived in the workflow by `deriveIdempotencyKey`. */
  readonly idempotencyKey: string
  readonly arguments: JsonObject
}

/** What a tool learns about the run of a call. Undefined members are left out: each call's event contains the rest. */
export interface CallerIdentity {
  /** Name of the agent. */
  readonly agent?: string
  /** The context that the run was started with. */
  readonly context?: JsonObject
}

/** @param config of the run */
export function callerIdentity({
  agentName,
  context,
}: {
  readonly agentName?: string
  readonly context?: JsonObject
}): CallerIdentity {
  return { ...(agentName !== undefined && { agent: agentName }), ...(context && { context }) }
}

/** The limits of a run for one call. */
export type CallLimits = Pick<Limits, 'argumentBytes' | 'resultBytes'>

/** Input of a tool's activity: the call, and the limits of its run. The worker's configuration has the other limits. */
export interface ToolActivityInput extends ToolCallInput, CallerIdentity {
  /** Absent: as in `defaultLimits`. */
  readonly limits?: CallLimits
  /** Digest of the tool's input schema at the start of the run. */
  readonly inputDigest: string
  /** Only for a deferred tool. */
  readonly deferred?: DeferredInput
  /** Only for a call that its program waits for, and for nothing else. */
  readonly followUp?: FollowUpInput
}

/**
 * What a remote tool learns of its call, if it asks for that: as the second argument, or as `call` beside `arguments`
 * in the input of a Nexus operation.
 */
export interface RemoteCall {
  /** Identity of the call: the same in every attempt. */
  readonly idempotencyKey: string
  readonly tool: string
  readonly caller: Caller
  /** As `run` in the context of a local tool. */
  readonly run: {
    readonly namespace: string
    readonly workflowId: string
    /** Of the current execution. It changes when the run continues as new; `workflowId` does not. */
    readonly runId: string
    /** The agent that the run began with. Absent without one, and for programs and sessions. */
    readonly agent?: string
  }
  /** The run's context, if it has one. */
  readonly context?: JsonObject
}

/**
 * Maximum bytes of the arguments of a remote tool, as JSON. They are in the history as they are: nobody else can read
 * our value store, and a payload of more than 256 KiB would be stored there.
 */
export const maxRemoteArgumentBytes = 128 * 1024

/** Input of activity `tool.arguments`, which returns the arguments for a remote tool. */
export interface PrepareArgumentsInput {
  readonly tool: string
  readonly position: CallPosition
  readonly arguments: JsonObject
  /** The tools of the run. */
  readonly tools: Pick<ToolSet, 'digest' | 'documentation'>
  /**
   * Of a Nexus operation: the endpoint must exist, else the workflow task that schedules the operation fails for ever.
   */
  readonly nexusEndpoint?: string
}

/**
 * Input of activity `audit.call`: the begin or the end of a call that somebody else's worker executes, or the decision
 * on a deferred call.
 */
export interface AuditCallInput {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  readonly idempotencyKey: string
  /** Of the run: who asks. */
  readonly context?: JsonObject
  readonly event:
    | { readonly kind: 'call.begins'; readonly digest: string }
    | { readonly kind: 'call.ends'; readonly status: CallStatus }
    | ({ readonly kind: 'call.decided' } & CallDecision)
}

/** How a deferred call got its outcome, or a call its approval. */
export type CallDecision =
  | { readonly decision: 'expired' }
  | {
      readonly decision: 'completed' | 'failed' | 'approved' | 'denied'
      /** Digest of the result. */
      readonly digest: string
      /** Who sent the result, as they say. */
      readonly by?: string
    }

/**
 * Input of activity `tool.result`: a result that does not come from a worker's own tool. The activity returns it
 * checked.
 */
export interface ToolResultInput {
  readonly tool: string
  /** The call that gets the result. */
  readonly position: CallPosition
  readonly value: Externalizable
  /** The tools of the run. */
  readonly tools: Pick<ToolSet, 'digest' | 'names' | 'outputSchemas'>
  /** `limits.resultBytes` of the run. */
  readonly resultBytes: number
}

/** What a worker needs to execute the step that the result of a call makes possible. */
export interface FollowUpInput {
  readonly session: Pick<SessionRef, 'id' | 'epoch'>
  /** Number of the step. */
  readonly step: number
  /** When the call was scheduled, in milliseconds since the start of the session. */
  readonly now: number
  /** As in `ExecuteStepInput`. Absent: that of a cell, `capturedCharacters`. */
  readonly outputLimit?: number
  /** Calls of local tools that the worker may make by itself. Absent: none. */
  readonly maxLocalCalls?: number
}

/** Result of a tool's activity with a {@link FollowUpInput}; without one it is the value alone. */
export interface FollowedCall {
  readonly value: Externalizable
  readonly followUps: readonly FollowUpStep[]
}
