import type { CallToDecide } from '../../common/calls/deferred-calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { BudgetPause } from '../../common/budget/budget.js'

/**
 * Something from outside that a run waits for: a decision on a call, the answer to the question of a call, the result
 * of a deferred call, or a larger budget. Times are in milliseconds since the epoch.
 */
export type RunWait = CallWait | ({ readonly type: 'budget' } & BudgetPause)

export interface CallWait extends CallToDecide {
  /** The workflow that makes the call for the run: a sub-agent, or a session. Absent: the run itself. */
  readonly workflowId?: string
  /** The token that decides on the call, or completes it. */
  readonly token: string
}

/** A call that waits for its approval, or a deferred call that waits for its result. Milliseconds since the epoch. */
export interface DeferredWait {
  readonly since: number
  readonly expiresAt: number
  /** The token that completes the call, or approves it. */
  readonly completionToken: string
}

/** A call that waits for the answer to a question of its tool. */
export interface QuestionWait extends DeferredWait, NonNullable<CallToDecide['question']> {}

/** The decision of a person or another program on a call. */
export interface CallDecision {
  readonly decision: 'approved' | 'denied' | 'completed' | 'failed'
  /** The decider, by the claim of the client: a name, or the identity of a process. */
  readonly by?: string
  readonly at: number
  /** The arguments from the code or the model; absent when the decision did not replace them. */
  readonly replacedArguments?: JsonObject
  /**
   * True when later calls of the tool with the same arguments need no approval. `approval.remember` of the tool may
   * cover more calls.
   */
  readonly remembered?: true
}
