import { Random } from '../random.js'

/** One step of a program. Times are milliseconds. */
export type Round =
  /** Makes calls with these durations, and waits for all of them or for the first. */
  | { readonly type: 'calls'; readonly durations: readonly number[]; readonly waitsFor: 'all' | 'first' }
  | { readonly type: 'sleep'; readonly ms: number }

/** One `execute_code`. */
export type PlannedCell = readonly Round[]

export type PlannedTurn =
  | { readonly type: 'cell'; readonly cell: PlannedCell }
  /** Durations of the direct calls. */
  | { readonly type: 'calls'; readonly durations: readonly number[] }

export type PlannedRun =
  | { readonly type: 'program'; readonly cell: PlannedCell }
  | { readonly type: 'agent'; readonly turns: readonly PlannedTurn[] }
  | { readonly type: 'session'; readonly executions: readonly PlannedExecution[]; readonly end: 'close' | 'idle' }

export interface PlannedExecution {
  readonly cell: PlannedCell
  /** Milliseconds after which the execution is sent, and after which it is interrupted. */
  readonly after: number
  readonly interruptAfter: number | undefined
}

/** The plans of a seed; deterministic. Times are close to those of parking (1 s) and the sticky timeout (1 s). */
export function planRuns(seed: number, count: number): readonly PlannedRun[] {
  const random = new Random(seed)
  return Array.from({ length: count }, () => planRunOfSeed(random))
}

function planRunOfSeed(random: Random): PlannedRun {
  const kind = random.below(10)
  if (kind < 5) return { type: 'program', cell: cellOf(random, 2 + random.below(6)) }
  if (kind < 8) return { type: 'agent', turns: list(random, 2 + random.below(4), turnOf) }
  return {
    type: 'session',
    executions: list(random, 2 + random.below(3), (own) => ({
      cell: cellOf(own, 1 + own.below(3)),
      after: own.below(1_500),
      interruptAfter: own.below(3) === 0 ? own.below(1_500) : undefined,
    })),
    end: random.oneOf(['close', 'idle']),
  }
}

function turnOf(random: Random): PlannedTurn {
  if (random.below(3) === 0) return { type: 'calls', durations: list(random, 1 + random.below(5), duration) }
  return { type: 'cell', cell: cellOf(random, 1 + random.below(3)) }
}

function cellOf(random: Random, rounds: number): PlannedCell {
  return list(random, rounds, (own): Round => {
    const kind = own.below(6)
    if (kind === 0) return { type: 'sleep', ms: 200 + own.below(1_500) }
    const durations = list(own, own.oneOf([1, 1, 2, 5, 12]), duration)
    return { type: 'calls', durations, waitsFor: kind === 1 ? 'first' : 'all' }
  })
}

function duration(random: Random): number {
  return random.oneOf([1, 10, 50, 200, 800, 1_500, 2_500])
}

function list<Item>(random: Random, length: number, make: (random: Random) => Item): readonly Item[] {
  return Array.from({ length }, () => make(random))
}
