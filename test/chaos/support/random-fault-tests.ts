import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from './chaos-run.js'
import { describePlan } from './fault-plan.js'
import { randomFaultPlan } from './random-fault-plan.js'

/** PTC_CHAOS_SEED: the first seed; PTC_CHAOS_RUNS: how many. One seed and one run repeat what failed. */
const { PTC_CHAOS_SEED: firstSeed = '1', PTC_CHAOS_RUNS: runs = '18' } = process.env

/** Files that share the runs, so that they go side by side. */
const shards = 3

/** Runs the plans of every third seed. */
export function describeRandomFaults(shard: 0 | 1 | 2): void {
  const seeds = Array.from({ length: Number(runs) }, (_, place) => Number(firstSeed) + place)
  const plans = seeds.filter((seed) => seed % shards === shard).map(randomFaultPlan)
  describeDocker('whatever goes wrong', () => {
    it.each(plans.map((plan) => [describePlan(plan), plan] as const))('%s', (_, plan) => expectSurvives(plan))
    // A single seed leaves the other files empty, which vitest takes for a mistake.
    it('is made of seeds', () => undefined)
  })
}
