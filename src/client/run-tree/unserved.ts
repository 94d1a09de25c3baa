import type { Role } from '../../common/names.js'
import type { BackendChoice } from '../../common/runs/run-config.js'

/** What a run waits for without progress. */
export type Unserved = UnservedQueue | UnservedEndpoint | FailingActivity

/** A task queue that no worker has polled since a task waits on it. Times are in milliseconds since the epoch. */
export interface UnservedQueue {
  readonly taskQueue: string
  /** Role of its workers; undefined for the queue of a sandbox host, and of a remote tool. */
  readonly role: Role | undefined
  /** The backend that its workers need, of a queue for opening sandboxes. `auto`: any. */
  readonly sandbox?: BackendChoice
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
  /** Why the last attempt failed, or what the activity waits for. */
  readonly reason: string
}

/**
 * An activity of the engine that fails and is tried again, or any activity that waits for the value store. Failed
 * attempts of calls and turns are in their nodes.
 */
export interface FailingActivity {
  /** Activity type: `session.open`. */
  readonly activity: string
  readonly failedAttempts: number
  /** Why the last attempt failed. */
  readonly reason: string
}
