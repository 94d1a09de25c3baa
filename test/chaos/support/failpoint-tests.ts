import { it } from 'vitest'
import { type Failpoint, failpoints } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from './chaos-run.js'
import type { Crash } from './failpoint-crashes.js'
import { crashAt, describePlan, type FaultPlan, noFaults } from './fault-plan.js'
import { calls } from './scenarios/calls.js'
import { trip } from './scenarios/trip.js'

export const { minimumHits } = calls()

/** Rows of the fault matrix in docs/durability.md. */
const faultMatrixRows: { readonly [Point in Failpoint]?: string } = {
  'model.begins': 'F01: before the model request',
  'model.replied': 'F02: after the model reply',
  'container.created': 'F03: after the container is created, before the result is recorded',
  'frame.sent': 'F04: while code runs',
  'step.result': 'F05: after the code made calls, before they are scheduled',
  'tool.ran': 'F06: after the effect, before the result is recorded',
  'step.begins': 'F07: after the result is recorded, before the code has it',
  'step.ends': 'F08: after the cell has ended, before its result is recorded',
}

/** Declares a test for each hit of each of these failpoints, at which a worker is killed. */
export function describeFailpoints(points: readonly Failpoint[]): void {
  for (const point of points) describeFailpointHits(point, 1, minimumHits[point])
}

/** Declares a test for some hits of a failpoint, for failpoints with too many hits for one file. */
export function describeFailpointHits(point: Failpoint, first: number, last: number): void {
  const times = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  describeDocker(
    `kill -9 at ${point}${faultMatrixRows[point] === undefined ? '' : ` (${faultMatrixRows[point]})`}`,
    () => {
      it.each(times)(`survives kill -9 at ${point}, hit %i`, (time) => expectSurvives(crashAt(point, time)))
    },
  )
}

/** Number of files that share the crashes of the scenario of a trip. */
const tripShards = 6

/**
 * The scenario of a trip uses no named session, no local effect, no memory and no eval:
 * `failpoints/shared-sessions.test.ts`, `failpoints/calls/effects.test.ts`, `failpoints/memory.test.ts` and
 * `failpoints/evals.test.ts` hit these failpoints.
 */
const otherPoints: readonly Failpoint[] = [
  'session.started',
  'effects.begin',
  'effects.stored',
  'memory.stored',
  'memory.written',
  'eval.reserved',
  'eval.started',
  'eval.timed_out',
  'eval.ended',
]
const tripPoints = failpoints.filter((point) => !otherPoints.includes(point))

/**
 * Declares tests of the scenario of a trip for every other failpoint of the code: a worker is killed at the first hit,
 * at the one in the middle and at the last one. A failpoint that this scenario does not hit fails its test.
 */
export function describeTripFailpoints(shard: number): void {
  const plans = tripPoints.flatMap(tripPlans).filter((_, index) => index % tripShards === shard)
  describeDocker('kill -9 of a worker of a trip', () => {
    it.each(plans.map((plan) => [describePlan(plan), plan] as const))('a trip survives kill -9: %s', (_, plan) =>
      expectSurvives(plan),
    )
  })
}

function tripPlans(point: Failpoint): readonly FaultPlan[] {
  const scenario = [trip(), trip({ continuesAsNew: true })].find(({ minimumHits: hits }) => hits[point] > 0)
  // Only a worker that takes over a step in progress hits it. While a call is in progress, the session may be parked.
  const takingOver: readonly Crash[] = [
    { point: 'step.ends', hit: 1 },
    { point, hit: 1 },
  ]
  if (!scenario) return [{ ...noFaults, scenario: trip(), crashes: takingOver }]
  const hits = scenario.minimumHits[point]
  return [...new Set([1, Math.ceil(hits / 2), hits])].map((hit) => ({ ...crashAt(point, hit), scenario }))
}
