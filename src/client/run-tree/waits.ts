import type { CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { BudgetPause } from '../../common/runs/budget.js'

/**
 * Something from outside that a run waits for: a decision on a call, the answer to the question of a call, the result
 * of a deferred call, or a larger budget. Times are in milliseconds since the epoch.
 */
export type RunWait = CallWait | ({ readonly type: 'budget' } & BudgetPause)

export interface CallWait {
  readonly type: 'approval' | 'answer' | 'result'
  /** The workflow that makes the call for the run: a sub-agent, or a session. Absent: the run itself. */
  readonly workflowId?: string
  readonly tool: string
  readonly summary: string
  /** For a large value its reference, under the key `ptc.value`. */
  readonly arguments: JsonObject
  readonly position: CallPosition
  readonly since: number
  readonly expiresAt: number
  /** Decides on the call, or completes it. */
  readonly token: string
}

/** A call that waits for its approval, or a deferred call that waits for its result. Milliseconds since the epoch. */
export interface DeferredWait {
  readonly since: number
  readonly expiresAt: number
  /** Completes the call, or approves it. */
  readonly completionToken: string
}

/** What a person, or another program, has decided on a call. */
export interface CallDecision {
  readonly decision: 'approved' | 'denied' | 'completed' | 'failed'
  /** Who decided, as the client said: a name, or the identity of a process. */
  readonly by?: string
  readonly at: number
  /** The arguments as the code or the model gave them; absent when the decision did not replace them. */
  readonly replacedArguments?: JsonObject
  /** Later calls of the tool with the same arguments need no approval, or more of them, as the tool says. */
  readonly remembered?: true
}
