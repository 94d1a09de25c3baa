import { defined } from '../defined.js'
import type { Externalizable } from '../json/external-value.js'
import type { DeferredInput } from './deferred-calls.js'
import type { JsonObject } from '../json/json.js'
import type { Limits } from '../run/limits.js'
import type { CallStatus } from './outcomes.js'
import type { ToolSet } from '../run/run-config.js'
import type { SessionRef } from '../session/session.js'
import type { FollowUpStep } from '../session/steps.js'

/** The caller of a tool: the model by a `tool_use` block, or code that runs in a cell. */
export type Caller = 'direct' | 'code_execution'

/** The kind of effect a tool has. It decides what happens when the outcome of a call is unknown. */
export type Effect =
  /** The tool changes nothing, so its calls may be retried. */
  | 'read'
  /** Calls with the same key have one effect: they are retried with the same idempotency key. */
  | 'idempotent'
  /** The effect must not happen twice: calls are never retried; a lost outcome is reported as `outcome_unknown`. */
  | 'once'

/** Attempts of a call in addition to the attempts of its tool, for attempts that end with their worker. */
export const lostWorkerRetries = 5

/** How a call is executed. */
export type Execution =
  /** As an activity: recorded before and after. */
  | 'activity'
  /** By the worker of the sandbox, only for `effect: 'read'`: recorded together with the next step of the code. */
  | 'local'

/** The position of a call in its run. Stable over retries, rebuilds, reset and continue-as-new. */
export interface CallPosition {
  /** Model turn, from 1; 0 for a program that runs without a model. */
  readonly turn: number
  /** Cell of the run, from 1; 0 for a direct call. */
  readonly cell: number
  /**
   * Number from 1. For a call from code: its number in the session (see `RequestedCall.index`). For a direct call: its
   * position among the direct calls of its turn.
   */
  readonly index: number
  /**
   * Id of the tool use with the code that made the call. Set only for code of a model. It is not a part of the
   * identity.
   */
  readonly toolUseId?: string
}

/** The input of a tool for one call. */
export interface ToolCallInput {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  /** Identity of the call, derived in the workflow by `deriveIdempotencyKey`. */
  readonly idempotencyKey: string
  readonly arguments: JsonObject
}

/**
 * Information about the run of a call for its tool. Undefined members are left out, because each event of a call
 * contains it.
 */
export interface CallerIdentity {
  /** Name of the agent. */
  readonly agent?: string
  /** The context of the run. */
  readonly context?: JsonObject
}

/** @param config the configuration of the run */
export function callerIdentity({
  agentName,
  context,
}: {
  readonly agentName?: string
  readonly context?: JsonObject
}): CallerIdentity {
  return defined({ agent: agentName, context })
}

/** The limits of a run for one call. */
export type CallLimits = Pick<Limits, 'argumentBytes' | 'resultBytes'>

/** Input of a tool's activity: the call, and the limits of its run. The worker's configuration has the other limits. */
export interface ToolActivityInput extends ToolCallInput, CallerIdentity {
  /** Absent: the values of `defaultLimits`. */
  readonly limits?: CallLimits
  /** Digest of the tool's input schema at the start of the run. */
  readonly inputDigest: string
  /** Set only for a deferred tool. */
  readonly deferred?: DeferredInput
  /** Set only for a call that is the only one for which its program waits. */
  readonly followUp?: FollowUpInput
}

/**
 * Information about the call for a remote tool that asks for it: the second argument, or `call` next to `arguments` in
 * the input of a Nexus operation.
 */
export interface RemoteCall {
  /** Identity of the call. It is the same in every attempt. */
  readonly idempotencyKey: string
  readonly tool: string
  readonly caller: Caller
  /** Has the same members as `run` in the context of a tool of the configuration. */
  readonly run: {
    readonly namespace: string
    readonly workflowId: string
    /** Run id of the current execution. It changes when the run continues as new; `workflowId` does not. */
    readonly runId: string
    /** The agent of the run. Absent without one, and for programs and sessions. */
    readonly agent?: string
  }
  /** The run's context, if it has one. */
  readonly context?: JsonObject
}

/**
 * Maximum bytes of the arguments of a remote tool, as JSON. They are inline in the history, because other applications
 * can't read the value store, and a payload of more than 256 KiB would be stored there.
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
   * Endpoint of a Nexus operation. It must exist: otherwise every attempt of the workflow task that schedules the
   * operation fails.
   */
  readonly nexusEndpoint?: string
}

/**
 * Input of activity `audit.call`: the start or the end of a call that a worker of another application executes, or the
 * decision on a deferred call.
 */
export interface AuditCallInput {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  readonly idempotencyKey: string
  /** The context of the run, which names the requester. */
  readonly context?: JsonObject
  readonly event:
    | { readonly type: 'call.started'; readonly digest: string }
    | { readonly type: 'call.completed' | 'call.expired' }
    | { readonly type: 'call.failed'; readonly status: CallStatus }
    | ({ readonly type: 'call.decided' } & CallDecision)
}

/** The decision by which a deferred call got its outcome, or a call its approval. */
export interface CallDecision {
  readonly decision: 'completed' | 'failed' | 'approved' | 'denied'
  /** Digest of the result. */
  readonly digest: string
  /** The sender of the result, by its own claim. */
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

/** The data with which a worker can execute the step after the result of a call. */
export interface FollowUpInput {
  readonly session: Pick<SessionRef, 'id' | 'epoch'>
  /** Number of the step. */
  readonly step: number
  /** Time at which the call was scheduled, in milliseconds since the start of the session. */
  readonly now: number
  /** See `ExecuteStepInput`. Absent: `capturedCharacters`. */
  readonly outputLimit?: number
  /** Calls of local tools that the worker may make by itself. Absent: none. */
  readonly maxLocalCalls?: number
}

/** Result of a tool's activity with a {@link FollowUpInput}; without one it is the value alone. */
export interface FollowedCall {
  readonly value: Externalizable
  readonly followUps: readonly FollowUpStep[]
}
