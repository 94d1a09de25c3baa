import type { StoredFile } from '../files/files.js'
import type { Externalizable } from '../json/external-value.js'
import type { JsonObject } from '../json/json.js'
import type { Limits } from '../run/limits.js'
import type { ToolSet } from '../run/run-config.js'
import type { SessionRef } from '../session/session.js'
import type { FollowUpStep } from '../session/steps.js'
import type { CallDecision, Caller, CallerIdentity, CallPosition, ToolCallInput } from './calls.js'
import type { DeferredInput } from './deferred-calls.js'
import type { CallStatus } from './outcomes.js'
import type { CallAnswers } from './questions.js'

/** The limits of a run for one call. `tmpBytes`: set only for a tool that returns a file. */
export interface CallLimits extends Pick<Limits, 'argumentBytes' | 'resultBytes'>, Partial<Pick<Limits, 'tmpBytes'>> {
  /** Images of the result that the model may see. Absent: the result is not for a model that sees images. */
  readonly images?: number
}

/** Input of a tool's activity: the call, and the limits of its run. The worker's configuration has the other limits. */
export interface ToolActivityInput extends ToolCallInput, CallerIdentity {
  /** Absent: the values of `defaultLimits`. */
  readonly limits?: CallLimits
  /** Digest of the tool's input schema at the start of the run. */
  readonly inputDigest: string
  /** Set only for a deferred tool. */
  readonly deferred?: DeferredInput
  /** The result has the labels that the tool computes: a {@link FollowedCall}. Absent: it has none. */
  readonly withLabels?: boolean
  /** The tool returns a file: the result is a {@link FollowedCall} that has it. */
  readonly returnsFile?: true
  /** Set only for a call that is the only one for which its program waits. */
  readonly followUp?: FollowUpInput
  /** Set only when the call has asked people, and is executed again. */
  readonly answers?: CallAnswers
}

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
    | { readonly type: 'call.refused'; readonly status: CallStatus; readonly digest: string; readonly reason: string }
    | { readonly type: 'call.completed' | 'call.expired' }
    | { readonly type: 'call.failed'; readonly status: CallStatus }
    | ({ readonly type: 'call.decided' } & CallDecision)
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

/**
 * Result of a tool's activity with a {@link FollowUpInput}, `withLabels` or `returnsFile`; without them it is the value
 * alone.
 */
export interface FollowedCall {
  readonly value: Externalizable
  readonly followUps: readonly FollowUpStep[]
  /** Absent: the tool computes none, or its function failed. */
  readonly labels?: readonly string[]
  /** The file that the tool has returned; `value` is its path. Absent: the tool returns none. */
  readonly file?: StoredFile
}
