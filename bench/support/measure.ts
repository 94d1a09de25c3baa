export type Unit = 'ms' | 's' | 'x' | '%' | 'events' | 'calls' | 'requests' | 'bytes' | 'MiB' | 'MB/s' | '/s'

/** One measured quantity with a sample for each repetition. */
export interface ResultRow {
  readonly name: string
  readonly unit: Unit
  readonly samples: readonly number[]
  /** Maximum of the median. */
  readonly target?: number
  /** Minimum of the median, for a row without `target`. */
  readonly targetAtLeast?: number
}

/** The bound of the median. */
export interface Target {
  readonly comparison: '<=' | '>='
  readonly value: number
}

/** @returns undefined for a row without a target */
export function targetOf({ target, targetAtLeast }: ResultRow): Target | undefined {
  if (target !== undefined) return { comparison: '<=', value: target }
  return targetAtLeast === undefined ? undefined : { comparison: '>=', value: targetAtLeast }
}

/** Compares the displayed value of the median. True for a row without a target. */
export function isMet(row: ResultRow): boolean {
  const target = targetOf(row)
  const median = Number(rounded(summarize(row.samples).median, row.unit))
  if (target === undefined) return true
  return target.comparison === '<=' ? median <= target.value : median >= target.value
}

/** Digits after the decimal point. */
const digits: Readonly<Record<Unit, number>> = {
  ms: 2,
  s: 2,
  x: 2,
  '%': 1,
  events: 1,
  calls: 0,
  requests: 1,
  bytes: 0,
  MiB: 1,
  'MB/s': 0,
  '/s': 1,
}

/** A value in its displayed form, without its unit. */
export function rounded(value: number, unit: Unit): string {
  return value.toFixed(digits[unit])
}

export interface Summary {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** @throws Error without samples */
export function summarize(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b)
  return { min: quantile(sorted, 0), median: quantile(sorted, 0.5), max: quantile(sorted, 1) }
}

/** The interpolated quantile of sorted samples. */
export function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]]
  if (low === undefined || high === undefined) throw new Error('there are no samples')
  return low + (high - low) * (position % 1)
}

/** Ratios of the samples of each repetition. A disturbance affects both samples. */
export function ratios(samples: readonly number[], reference: readonly number[]): number[] {
  return samples.map((sample, repetition) => sample / (reference[repetition] ?? Number.NaN))
}

/**
 * Returns a function that makes the rows of one quantity: of the bare side, of each other side, and their ratios.
 *
 * @param what the beginning of the names of the rows
 */
export function pairsOf<Side extends string, Sample extends Readonly<Record<keyof Sample, number>>>(
  what: string,
  measured: Readonly<Record<Side | 'bare', readonly Sample[]>>,
) {
  return (
    quantity: keyof Sample,
    name: string,
    unit: Unit,
    targets: Readonly<Record<Exclude<Side, 'bare'>, Pick<ResultRow, 'target' | 'targetAtLeast'>>>,
  ): readonly ResultRow[] => {
    const samplesOf = (side: Side | 'bare') => measured[side].map((one) => one[quantity])
    const bare = samplesOf('bare')
    const sides = Object.keys(targets) as Exclude<Side, 'bare'>[]
    return [
      { name: `${what}, bare: ${name}`, unit, samples: bare },
      ...sides.flatMap((side) => [
        { name: `${what}, ${side}: ${name}`, unit, samples: samplesOf(side) },
        {
          name: `${what}, ${name}: ${side} / bare`,
          unit: 'x' as const,
          samples: ratios(samplesOf(side), bare),
          ...targets[side],
        },
      ]),
    ]
  }
}

/** Duration of `work` in milliseconds. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Runs each piece of work once per repetition, in alternating order, so that a drift of the machine's speed favours no
 * piece. Returns the samples by name.
 */
export async function interleaved<Name extends string, Sample>(
  runs: number,
  work: Readonly<Record<Name, (run: number) => Promise<Sample>>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(work) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>
  for (let run = 0; run < runs; run += 1) {
    for (const name of run % 2 === 0 ? names : names.toReversed()) samples[name].push(await work[name](run))
  }
  return samples
}
