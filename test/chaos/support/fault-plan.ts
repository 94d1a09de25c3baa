import type { Failpoint } from '../../../src/common/failpoint.js'
import type { Crash } from './supervised-worker.js'

/** Something that is done to a run from outside. */
export interface Disturbance {
  readonly kind: 'kill-worker' | 'freeze-worker' | 'kill-container'
  /** When the world was asked for so many effects, and so much later. */
  readonly afterRequests: number
  readonly delayMs: number
  /** Of a freeze. */
  readonly forMs: number
}

/** Everything that goes wrong in one run. */
export interface FaultPlan {
  /** What it was made of; absent when it was written by hand. */
  readonly seed?: number
  /** What the workers die of, one after the other. */
  readonly crashes: readonly Crash[]
  readonly disturbances: readonly Disturbance[]
  /** Steps after which the state of the session is kept; absent: so many that the scenario has none. */
  readonly snapshotSteps?: number
  /** Effects that happen, and whose reply gets lost. */
  readonly droppedReplies: readonly { readonly name: string; readonly count: number }[]
}

export const noFaults: FaultPlan = { crashes: [], disturbances: [], droppedReplies: [] }

/** One crash, at this point for the n-th time. */
export function crashAt(point: Failpoint, hit: number): FaultPlan {
  return { ...noFaults, crashes: [{ point, hit }] }
}

export function describePlan({ seed, crashes, disturbances, droppedReplies }: FaultPlan): string {
  return [
    seed === undefined ? 'plan' : `seed ${seed}`,
    ...crashes.map(({ point, hit }) => `${point}#${hit}`),
    ...disturbances.map(({ kind, afterRequests, delayMs }) => `${kind} ${delayMs} ms after effect ${afterRequests}`),
    ...droppedReplies.map(({ name, count }) => `${count} replies to ${name} lost`),
  ].join(', ')
}
