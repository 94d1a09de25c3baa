import type { Failpoint } from '../../../src/common/failpoint.js'
import type { Crash } from './failpoint-crashes.js'
import { calls } from './scenarios/calls.js'
import type { Moment, Scenario } from './scenarios/scenario.js'

/** A fault that is injected from outside of the worker. */
export interface Disturbance {
  readonly kind: 'kill-worker' | 'freeze-worker' | 'kill-container'
  /** The number of requested effects, and the delay after it. */
  readonly afterRequests: number
  readonly delayMs: number
  /** Duration of a freeze. */
  readonly forMs: number
}

/** All faults of one run. */
export interface FaultPlan {
  readonly scenario: Scenario
  /** The seed of a random plan. */
  readonly seed?: number
  /** Crashes of the workers, in order. */
  readonly crashes: readonly Crash[]
  readonly disturbances: readonly Disturbance[]
  /** The worker is killed at this moment. */
  readonly killsWorkerDuring?: Moment
  /** Effects that are applied, but whose reply is lost. */
  readonly droppedReplies: readonly { readonly name: string; readonly count: number }[]
}

export const noFaults: FaultPlan = { scenario: calls(), crashes: [], disturbances: [], droppedReplies: [] }

/** A plan with one crash, at the n-th hit of a failpoint. */
export function crashAt(point: Failpoint, hit: number): FaultPlan {
  return { ...noFaults, crashes: [{ point, hit }] }
}

export function describePlan({
  scenario,
  seed,
  killsWorkerDuring,
  crashes,
  disturbances,
  droppedReplies,
}: FaultPlan): string {
  return [
    ...(seed === undefined ? [] : [`seed ${seed}`]),
    scenario.name,
    ...(killsWorkerDuring ? [`kill-worker during ${killsWorkerDuring}`] : []),
    ...crashes.map(({ point, hit }) => `${point}#${hit}`),
    ...disturbances.map(({ kind, afterRequests, delayMs }) => `${kind} ${delayMs} ms after effect ${afterRequests}`),
    ...droppedReplies.map(({ name, count }) => `${count} replies to ${name} lost`),
  ].join(', ')
}
