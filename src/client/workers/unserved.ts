import type { Role } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'

/** A reason why a run waits without progress. */
export type Unserved = UnservedQueue | UnservedEndpoint | FailingActivity

/** A task queue with a waiting task that no worker has polled since. Times are in milliseconds since the epoch. */
export interface UnservedQueue {
  readonly taskQueue: string
  /** Role of the queue's workers; undefined for the queue of a sandbox host, and of a remote tool. */
  readonly role: Role | undefined
  /** For a queue for opening sandboxes: the backend that its workers need. `auto`: any. */
  readonly sandbox?: BackendChoice
  /**
   * The activity or workflow type, or the Nexus operation, that waits. Set if a tool has its own task queue or is
   * remote.
   */
  readonly waitingType?: string
  /** Namespace of the target of a Nexus endpoint. Set only if it is another namespace. */
  readonly namespace?: string
  /** Time at which the oldest waiting task was scheduled. */
  readonly waitingSince: number
  /** Time of the latest poll; undefined when there was no poll in the last 5 minutes. */
  readonly lastPolledAt: number | undefined
}

/** A Nexus endpoint that has not started an operation after at least one attempt. */
export interface UnservedEndpoint {
  readonly endpoint: string
  /** Service and operation: `quotes.quote`. */
  readonly operation: string
  /** Time at which the operation was scheduled, in milliseconds since the epoch. */
  readonly waitingSince: number
  readonly attempts: number
  /** Why the last attempt failed, or why the activity waits. */
  readonly reason: string
}

/**
 * An activity of the engine that fails and is retried, or any activity that waits for the value store. Failed attempts
 * of calls and turns are in their nodes.
 */
export interface FailingActivity {
  /** Activity type: `session.open`. */
  readonly activity: string
  readonly failedAttempts: number
  /** Why the last attempt failed. */
  readonly reason: string
}
