import type { CallPosition } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Role } from '../../common/names.js'
import type { BudgetPause } from '../../common/runs/budget.js'

/**
 * Something from outside that a run waits for: a decision on a call, the answer to the question of a call, the result of
 * a deferred call, or a larger budget. Times are in milliseconds since the epoch.
 */
export type RunWait = CallWait | ({ readonly type: 'budget' } & BudgetPause)

export interface CallWait {
  readonly type: 'approval' | 'answer' | 'result'
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
  /** Later calls of the same tool needed no approval. */
  readonly remembered?: true
}

/** What a run waits for in vain. */
export type Unserved = UnservedQueue | UnservedEndpoint

/** A task queue that no worker has polled since a task waits on it. Times are in milliseconds since the epoch. */
export interface UnservedQueue {
  readonly taskQueue: string
  /** Role of its workers; undefined for the queue of a sandbox host, and of a remote tool. */
  readonly role: Role | undefined
  /** What waits, if a tool has its own task queue or is remote: an activity or workflow type, or a Nexus operation. */
  readonly waitingType?: string
  /** Only of the target of a Nexus endpoint in another namespace. */
  readonly namespace?: string
  /** When the oldest waiting task was scheduled. */
  readonly waitingSince: number
  /** Undefined when there was no poll in the last 5 minutes. */
  readonly lastPolledAt: number | undefined
}

/** A Nexus endpoint of which an operation has not started, after at least one attempt. */
export interface UnservedEndpoint {
  readonly endpoint: string
  /** Service and operation: `quotes.quote`. */
  readonly operation: string
  /** When the operation was scheduled, in milliseconds since the epoch. */
  readonly waitingSince: number
  readonly attempts: number
  /** Why the last attempt failed. */
  readonly reason: string
}
