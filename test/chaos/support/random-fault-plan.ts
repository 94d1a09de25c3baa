import { failpoints } from '../../../src/common/failpoint.js'
import { Random } from '../../support/random.js'
import type { Disturbance, FaultPlan } from './fault-plan.js'
import { calls } from './scenarios/calls.js'
import type { Scenario } from './scenarios/scenario.js'
import { trip } from './scenarios/trip.js'
import type { Crash } from './failpoint-crashes.js'

/** Longer than the heartbeat timeout of a worker. */
const freezeMs = 7_000

/** Scenarios by the remainder of the seed. */
const scenarios = [calls(), calls(), trip(), trip({ continuesAsNew: true })]

/** One to three crashes or disturbances, and sometimes a lost reply. The same seed gives the same plan. */
export function randomFaultPlan(seed: number): FaultPlan {
  const random = new Random(seed)
  const scenario = scenarios[seed % scenarios.length] ?? calls()
  const crashes: Crash[] = []
  const disturbances: Disturbance[] = []
  for (let faults = 1 + random.below(3); faults > 0; faults -= 1) {
    const kind = random.oneOf(['crash', 'crash', 'crash', 'kill-container', 'kill-worker', 'freeze-worker'] as const)
    if (kind === 'crash') crashes.push(randomCrash(random, scenario, crashes.length === 0))
    else
      disturbances.push({
        kind,
        afterRequests: 1 + random.below(scenario.effects.length - scenario.lastEffects),
        delayMs: random.below(1_500),
        forMs: freezeMs,
      })
  }
  const loses = random.below(3) === 0
  const droppedReplies = loses ? [{ name: random.oneOf(scenario.effects), count: 1 + random.below(2) }] : []
  disturbances.sort((one, other) => one.afterRequests - other.afterRequests)
  return { scenario, seed, crashes, disturbances, droppedReplies }
}

/** A random crash. A later crash has fewer hits left in the run. */
function randomCrash(random: Random, { minimumHits }: Scenario, isFirst: boolean): Crash {
  const point = random.oneOf(failpoints.filter((name) => minimumHits[name] > 0))
  const hits = minimumHits[point]
  return { point, hit: 1 + random.below(isFirst ? hits : Math.max(1, Math.floor(hits / 2))) }
}
