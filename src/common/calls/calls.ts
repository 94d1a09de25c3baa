import { defined } from '../defined.js'
import type { JsonObject } from '../json/json.js'

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
export type ToolExecution =
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

/** The parts of a call that identify it. */
export interface CallIdentity {
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  /** Derived in the workflow by `deriveIdempotencyKey`. */
  readonly idempotencyKey: string
}

/** The input of a tool for one call. */
export interface ToolCallInput extends CallIdentity {
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

/** The decision by which a deferred call got its outcome, or a call its approval. */
export interface CallDecision {
  readonly decision: 'completed' | 'failed' | 'approved' | 'denied'
  /** Digest of the result. */
  readonly digest: string
  /** The sender of the result, by its own claim. */
  readonly by?: string
}
