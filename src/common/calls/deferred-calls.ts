import type { Caller, CallPosition } from './calls.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { CallOutcome } from './outcomes.js'

/** What a deferred tool declares. */
export interface DeferredConfig {
  /** Milliseconds from the end of `run` to the expiry of the call. */
  readonly expiresMs: number
}

/** What the activity of a deferred call needs for its completion token, beside the idempotency key. */
export interface DeferredInput {
  /** The first execution of the workflow that waits. */
  readonly firstExecutionRunId: string
  /** From `signCall`. */
  readonly signature: string
}

/** Argument of update `ptc.completeCall`. */
export interface CompleteCallInput {
  readonly idempotencyKey: string
  readonly signature: string
  /** Digest of `result`: a second completion with the same result is no error. */
  readonly digest: string
  readonly result: DeferredResult
  /** Who decided, as the client says: at most {@link maxDeciderLength} characters. */
  readonly by?: string
}

export const maxDeciderLength = 200

/**
 * Whether a deferred call asks a person: its only argument is a question. Then its result is a text, as far as its
 * arguments say: no record of the run has the output schema of the tool.
 */
export function isQuestion(args: JsonObject): boolean {
  const { question, ...others } = args
  return typeof question === 'string' && Object.keys(others).length === 0
}

export type DeferredResult =
  | { readonly type: 'value'; readonly value: JsonValue }
  | {
      readonly type: 'failure'
      readonly message: string
      /** Only of a request for approval: the calls of the run before it are compensated. */
      readonly compensate?: true
    }

/**
 * A call whose activity has ended, and whose result or approval has not arrived. Times are milliseconds since the
 * epoch.
 */
export interface WaitingCall {
  readonly idempotencyKey: string
  readonly tool: string
  readonly caller: Caller
  readonly position: CallPosition
  /** It waits for its approval, not for its result. Then `idempotencyKey` is that of `approvalKey`. */
  readonly isApproval?: true
  readonly since: number
  readonly expiresAt: number
}

/** A call that no longer waits, kept for requests that come late. */
export interface SettledCall {
  readonly idempotencyKey: string
  /** Digest of the result; null for an expired call. */
  readonly digest: string | null
}

/** The deferred calls of a run for the next execution of the continue-as-new chain. */
export interface DeferredCallsState {
  /** The outcome is there when the program does not have it yet. */
  readonly waiting: readonly (WaitingCall & { readonly outcome?: CallOutcome })[]
  readonly settled: readonly SettledCall[]
  /** Milliseconds during which at least one call waited. */
  readonly waitedMs: number
}
