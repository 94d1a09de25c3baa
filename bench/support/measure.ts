export type Unit = 'ms' | 'x' | 'events' | 'bytes' | 'MiB' | 'MB/s' | '/s'

/** One measured quantity, a sample for each repetition. */
export interface Row {
  readonly what: string
  readonly unit: Unit
  readonly samples: readonly number[]
  /** The median is not to be above this. */
  readonly target?: number
}

export interface Summary {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** @throws Error without samples: then nothing was measured */
export function summarise(samples: readonly number[]): Summary {
  const sorted = [...samples].sort((a, b) => a - b)
  return { min: quantile(sorted, 0), median: quantile(sorted, 0.5), max: quantile(sorted, 1) }
}

/** The value below which this share of the samples lies, interpolated. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  if (low === undefined || high === undefined) throw new Error('there are no samples')
  return low + (high - low) * (place % 1)
}

/** Each sample beside the one of the same repetition: what disturbs a repetition disturbs both. */
export function ratios(samples: readonly number[], reference: readonly number[]): number[] {
  return samples.map((sample, repetition) => sample / (reference[repetition] ?? Number.NaN))
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/**
 * Runs each piece of work once a repetition, forwards and backwards in turn, so that a machine that gets slower or
 * faster meanwhile favours none. Gives the samples by name.
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
