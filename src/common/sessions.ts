import type { CellOutcome } from './outcomes.js'
import type { BackendChoice } from './plan.js'
import type { RunOptions } from './runs.js'

/** Argument of workflow `session`: one sandbox that outlives a run. */
export interface SessionInput extends Omit<RunOptions, 'model'> {
  readonly name: string
  /** Id of the execution that began it: how that one knows that it found no variables. */
  readonly openedBy: string
}

/** Argument of update `execute`. */
export interface ExecuteInput {
  readonly source: string
  /** What the caller counts on; another backend is refused. */
  readonly sandbox?: BackendChoice
}

/** Answer of update `execute`. */
export interface Executed {
  readonly outcome: CellOutcome
  /** Number of the cell in its session, from 1. */
  readonly cell: number
  /** Calls that were made while it ran. */
  readonly toolCalls: number
  /** The session began with this execution. */
  readonly isNew: boolean
}

/** Argument of signal `interrupt`. */
export interface InterruptSignal {
  /** Update id of the execution that is to stop, wherever it stands; undefined: what runs now, if anything does. */
  readonly execution?: string
}

/** Answer of query `inspect`; of a run it is null while that has no sandbox. Times are milliseconds since the epoch. */
export interface SessionStatus {
  /** `parked`: it waits without a sandbox, and gets one when it goes on. */
  readonly state: 'busy' | 'idle' | 'parked' | 'ending'
  /** Of its sandbox; until there is one, as asked for. */
  readonly backend: BackendChoice
  readonly createdAt: number
  /** End of the latest execution. */
  readonly lastUsedAt: number
  /** Null while something is executed, and for the sandbox of a run. */
  readonly expiresAt: number | null
  readonly cells: number
  readonly toolCalls: number
}

/** Result of workflow `session`. */
export interface SessionResult {
  readonly ended: 'idle' | 'closed'
  readonly cells: number
  readonly toolCalls: number
}

/** Bytes of source that reach a session at all; the configured `sourceBytes` is the smaller limit. */
export const executionBytes = 1_500_000
