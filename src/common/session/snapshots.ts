import type { StepLimits } from '../run/limits.js'
import type { SessionRef } from './session.js'
import type { ValueRef } from '../json/external-value.js'

/** The state of a session after its first `steps` steps. A rebuild restores it and repeats only the later steps. */
export interface SessionSnapshot {
  readonly state: ValueRef
  readonly steps: number
}

/** A larger state is not stored. The sandbox lowers it to a part of its memory. */
export const maxSnapshotBytes = 32 * 1024 * 1024

/** Seconds the sandbox may spend on a snapshot. */
export const snapshotSeconds = 5

/** Input of activity `session.snapshot`. */
export interface SnapshotInput {
  readonly session: SessionRef
  /** Number of the last completed step. */
  readonly step: number
  readonly limits: StepLimits
}

/** Result of activity `session.snapshot`. */
export type SnapshotResult =
  | { readonly type: 'stored'; readonly state: ValueRef }
  /** No snapshot was stored; `reason` is for readers of the history. */
  | { readonly type: 'skipped'; readonly reason: string }
