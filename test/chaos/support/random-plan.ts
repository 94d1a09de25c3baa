import { type CrashPoint, crashPoints } from '../../../src/common/crash-point.js'
import { Random } from '../../support/random.js'
import { passes } from './every-step.js'
import type { Disturbance, Plan } from './plan.js'
import { effects } from './scenario.js'
import type { Crash } from './workers.js'

/** Longer than a worker may be silent. */
const freezeMs = 7_000

/** One to three crashes or disturbances, and now and then a reply that gets lost; the same for the same seed. */
export function randomPlan(seed: number): Plan {
  const random = new Random(seed)
  const crashes: Crash[] = []
  const disturbances: Disturbance[] = []
  for (let faults = 1 + random.below(3); faults > 0; faults -= 1) {
    const what = random.oneOf(['crash', 'crash', 'crash', 'kill-container', 'kill-worker', 'freeze-worker'] as const)
    if (what === 'crash') crashes.push(randomCrash(random, crashes.length === 0))
    else
      disturbances.push({
        what,
        afterAsks: 1 + random.below(effects.length - 2),
        delayMs: random.below(1_500),
        forMs: freezeMs,
      })
  }
  const loses = random.below(3) === 0
  const droppedReplies = loses ? [{ name: random.oneOf(effects), count: 1 + random.below(2) }] : []
  disturbances.sort((one, other) => one.afterAsks - other.afterAsks)
  return { seed, crashes, disturbances, droppedReplies }
}

/** What comes after the first crash has less of the run before it. */
function randomCrash(random: Random, isFirst: boolean): Crash {
  const point = random.oneOf(crashPoints.filter((name) => passes[name] > 0))
  return { point, time: 1 + random.below(isFirst ? passes[point] : halfOf(point)) }
}

function halfOf(point: CrashPoint): number {
  return Math.max(1, Math.floor(passes[point] / 2))
}
