import type { JsonObject, JsonValue } from '../json/json.js'

/** The declaration of a deferred tool. */
export interface DeferredConfig {
  /** Milliseconds from the end of `run` to the expiry of the call. */
  readonly expiresMs: number
}

/** The data for the completion token of a deferred call, in addition to the idempotency key. */
export interface DeferredInput {
  /** Run id of the first execution of the workflow that waits. */
  readonly firstExecutionRunId: string
  /** The result of `signCall`. */
  readonly signature: string
}

/** Argument of update `ptc.completeCall`. */
export interface CompleteCallInput {
  readonly idempotencyKey: string
  readonly signature: string
  /** Digest of `result`. A second completion with the same result is not an error. */
  readonly digest: string
  readonly result: DeferredResult
  /** The person or program that decided, by the claim of the client. At most {@link maxDeciderLength} characters. */
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
      /** Only for a request for approval: the earlier calls of the run are compensated. */
      readonly compensate?: true
    }
