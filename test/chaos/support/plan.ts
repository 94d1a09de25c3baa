import type { CrashPoint } from '../../../src/common/crash-point.js'
import type { Crash } from './workers.js'

/** Something that is done to a run from outside. */
export interface Disturbance {
  readonly what: 'kill-worker' | 'freeze-worker' | 'kill-container'
  /** When the world was asked for so many effects, and so much later. */
  readonly afterAsks: number
  readonly delayMs: number
  /** Of a freeze. */
  readonly forMs: number
}

/** Everything that goes wrong in one run. */
export interface Plan {
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

export const nothing: Plan = { crashes: [], disturbances: [], droppedReplies: [] }

/** One crash, at this point for the n-th time. */
export function crashAt(point: CrashPoint, time: number): Plan {
  return { ...nothing, crashes: [{ point, time }] }
}

export function inWords({ seed, crashes, disturbances, droppedReplies }: Plan): string {
  return [
    seed === undefined ? 'plan' : `seed ${seed}`,
    ...crashes.map(({ point, time }) => `${point}#${time}`),
    ...disturbances.map(({ what, afterAsks, delayMs }) => `${what} ${delayMs} ms after effect ${afterAsks}`),
    ...droppedReplies.map(({ name, count }) => `${count} replies to ${name} lost`),
  ].join(', ')
}
