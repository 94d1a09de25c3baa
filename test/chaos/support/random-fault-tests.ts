import { it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { expectSurvives } from './chaos-run.js'
import { describePlan } from './fault-plan.js'
import { randomFaultPlan } from './random-fault-plan.js'

/** PTC_CHAOS_SEED: the first seed; PTC_CHAOS_RUNS: the number of runs. One seed and one run repeat a failure. */
const { PTC_CHAOS_SEED: firstSeed = '1', PTC_CHAOS_RUNS: runs = '18' } = process.env

/** Number of files that share the runs, so that they run in parallel. */
const shards = 3

/** Runs the plans of every third seed. */
export function describeRandomFaults(shard: 0 | 1 | 2): void {
  const seeds = Array.from({ length: Number(runs) }, (_, index) => Number(firstSeed) + index)
  const plans = seeds.filter((seed) => seed % shards === shard).map(randomFaultPlan)
  describeDocker('random faults', () => {
    it.each(plans.map((plan) => [describePlan(plan), plan] as const))('a run survives random faults: %s', (_, plan) =>
      expectSurvives(plan),
    )
    // A single seed leaves the other files without a test, which vitest reports as an error.
    it('there is no seed for this file', () => undefined)
  })
}
