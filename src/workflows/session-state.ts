import type { SessionRef } from '../common/steps.js'
import type { JournalState } from './journal.js'
import type { SnapshotPolicyState } from './snapshot-policy.js'

/** A session as the next run of the chain takes it over. */
export interface SessionState {
  readonly ref: SessionRef
  /** Null: there is no sandbox at the moment. */
  readonly hostQueue: string | null
  readonly isParked: boolean
  readonly keepsParked: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Of the latest answer; absent when there was none, and in histories from before it was kept. */
  readonly answeredAt?: number
  readonly journal: JournalState
  readonly snapshots?: SnapshotPolicyState
}
