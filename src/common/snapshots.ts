import type { StepLimits } from './limits.js'
import type { SessionRef } from './steps.js'
import type { ValueRef } from './values.js'

/** When and how the state of a session is kept, so that a rebuild need not begin at its first step. */
export interface SnapshotPlan {
  /** Steps that a rebuild may have to repeat before a snapshot is made. */
  readonly steps: number
  /** Or milliseconds that these steps took. */
  readonly ms: number
  /** A state that has more is not kept. */
  readonly bytes: number
  /** Of the sandbox's time. */
  readonly seconds: number
}

/** The state of a session after so many steps: a rebuild repeats only what came later. */
export interface SnapshotMark {
  readonly state: ValueRef
  readonly steps: number
}

/** What `session.snapshot` is given. */
export interface SnapshotInput extends Pick<SnapshotPlan, 'bytes' | 'seconds'> {
  readonly session: SessionRef
  /** The last step that was answered. */
  readonly step: number
  readonly limits: StepLimits
}

/** What `session.snapshot` answers. */
export type SnapshotAnswer =
  | { readonly type: 'kept'; readonly state: ValueRef }
  /** There is none, and why, for people: something in the program can't be kept. */
  | { readonly type: 'refused'; readonly reason: string }
