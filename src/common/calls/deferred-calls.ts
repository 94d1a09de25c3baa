import type { CallPosition } from './calls.js'
import type { JsonObject, JsonValue } from '../json/json.js'
import type { ToolQuestion } from './questions.js'
import type { BudgetPause } from '../budget/budget.js'

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
      /** Only for a question of a tool: nobody decided. Absent: a person declined to answer. */
      readonly cancel?: true
    }

/** A call that waits for its approval, the answer to its question, or its result. */
export interface CallToDecide {
  readonly type: 'approval' | 'answer' | 'result'
  readonly tool: string
  readonly summary: string
  /** The arguments. A large value is replaced by its reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly position: CallPosition
  /** The question of the service of the tool, which is not trusted. Absent: the tool itself is a question. */
  readonly question?: Pick<ToolQuestion, 'from' | 'message' | 'schema' | 'url'>
  /** Times are milliseconds since the epoch. */
  readonly since: number
  readonly expiresAt: number
}

/** A workflow that makes calls for a run: a sub-agent, or the owner of a session that has a cell of the run. */
export interface HelperWorkflow {
  readonly workflowId: string
  /** True for the owner of a session. It may execute a cell of another run before. */
  readonly hasCell?: true
}

/** Result of query `ptc.waits`. */
export interface WorkflowWaits {
  readonly firstExecutionRunId: string
  /** With the data for their tokens. */
  readonly calls: readonly (CallToDecide & Pick<CompleteCallInput, 'idempotencyKey' | 'signature'>)[]
  readonly paused?: BudgetPause
  readonly helpers: readonly HelperWorkflow[]
  /** Workflow id of the run whose cell the session of this workflow executes. */
  readonly servedRun?: string
}
