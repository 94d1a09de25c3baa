import { truncateEnd } from '../../common/text/text.js'
import {
  differenceOfMeans,
  differenceOfRates,
  type Interval,
  isSignificant,
  meanInterval,
  type Moments,
  momentsOf,
  wilsonInterval,
} from '../statistics/intervals.js'
import type { ArmRecord, EvalRecord, SampleRecord } from '../store/records.js'

/** Characters of a reason in a summary. */
const maxReason = 160

/** Numbers of samples by their state. Only passed and failed ones are scored. */
export interface SampleCounts {
  readonly total: number
  readonly passed: number
  readonly failed: number
  /** Failures of the infrastructure. */
  readonly errors: number
  readonly judgeFailed: number
  /** They did not run, because the maximum cost was reserved. */
  readonly notRun: number
  /** The eval was interrupted before they ended. */
  readonly unfinished: number
}

export const metrics = [
  'turns',
  'toolCalls',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'costUsd',
  'seconds',
] as const

export type Metric = (typeof metrics)[number]

/** A mean over scored samples whose value is known. */
export interface MetricSummary {
  readonly count: number
  readonly mean: number
  readonly total: number
  readonly interval: Interval | null
}

export interface ArmSummary {
  readonly arm: string
  readonly model: string
  readonly counts: SampleCounts
  /** Passed of passed and failed. Null: nothing is scored. */
  readonly passRate: number | null
  readonly passInterval: Interval | null
  /** Share of the scored samples whose model checked its work. */
  readonly verifiedRate: number | null
  readonly metrics: Readonly<Record<Metric, MetricSummary | null>>
  /** US dollars of all attempts and judges, with the reservations of those with an unknown cost. */
  readonly spentUsd: number
  /** Ends other than passed, by their kind. */
  readonly failures: Readonly<Record<string, number>>
}

export interface EvalSummary {
  readonly id: string
  readonly label: string
  readonly version: string
  readonly createdAt: string
  readonly finishedAt: string | null
  readonly repeats: number
  readonly maxCostUsd: number | null
  readonly counts: SampleCounts
  readonly arms: readonly ArmSummary[]
  readonly tasks: readonly TaskSummary[]
}

/** A row of a task: passed and scored samples of each arm. */
export interface TaskSummary {
  readonly task: string
  readonly arms: readonly SampleCounts[]
  /** Reasons of samples that did not pass, at most three. */
  readonly reasons: readonly string[]
}

export function summarizeEval(
  record: EvalRecord,
  arms: readonly ArmRecord[],
  samples: readonly SampleRecord[],
): EvalSummary {
  const names = [...new Set(samples.map(({ task }) => task))].toSorted()
  return {
    id: record.id,
    label: record.label,
    version: record.version,
    createdAt: new Date(record.created_at).toISOString(),
    finishedAt: record.finished_at === null ? null : new Date(record.finished_at).toISOString(),
    repeats: record.repeats,
    maxCostUsd: record.max_cost_usd,
    counts: countStates(samples),
    arms: arms.map((arm) =>
      summarizeArm(
        arm,
        samples.filter(({ arm: number }) => number === arm.number),
      ),
    ),
    tasks: names.map((task) => {
      const own = samples.filter((sample) => sample.task === task)
      const reasons = own.flatMap(({ state, kind, reason }) =>
        state === 'passed' || kind === null ? [] : [truncateEnd(reason ?? kind, maxReason)],
      )
      const counts = arms.map(({ number }) => countStates(own.filter(({ arm }) => arm === number)))
      return { task, arms: counts, reasons: [...new Set(reasons)].slice(0, 3) }
    }),
  }
}

export function summarizeArm(
  { name, model }: Pick<ArmRecord, 'name' | 'model'>,
  samples: readonly SampleRecord[],
): ArmSummary {
  const counts = countStates(samples)
  const scored = samples.filter(isScored)
  const rate = passesOf(scored)
  const checked = scored.filter(({ verified }) => verified !== null)
  const failures: Record<string, number> = {}
  for (const { state, kind } of samples) {
    if (state === 'passed' || kind === null) continue
    failures[kind] = (failures[kind] ?? 0) + 1
  }
  const summaries = metrics.map((metric) => [metric, summarizeMetric(valuesOf(scored, metric))] as const)
  return {
    arm: name,
    model,
    counts,
    passRate: rate.total === 0 ? null : rate.successes / rate.total,
    passInterval: wilsonInterval(rate) ?? null,
    verifiedRate:
      checked.length === 0 ? null : checked.filter(({ verified }) => verified === 1).length / checked.length,
    // Each metric is in the list.
    metrics: Object.fromEntries(summaries) as ArmSummary['metrics'],
    spentUsd: samples.reduce((sum, { spent_usd: spent, reserved_usd: reserved }) => sum + spent + reserved, 0),
    failures,
  }
}

function countStates(samples: readonly SampleRecord[]): SampleCounts {
  const of = (...states: readonly SampleRecord['state'][]) =>
    samples.filter(({ state }) => states.some((each) => each === state)).length
  return {
    total: samples.length,
    passed: of('passed'),
    failed: of('failed'),
    errors: of('error'),
    judgeFailed: of('judge_failed'),
    notRun: of('not_run'),
    unfinished: of('pending', 'running'),
  }
}

function isScored({ state }: SampleRecord): boolean {
  return state === 'passed' || state === 'failed'
}

function passesOf(scored: readonly SampleRecord[]) {
  return { successes: scored.filter(({ state }) => state === 'passed').length, total: scored.length }
}

/** Input tokens include those read from the cache and written to it. */
function valueOf(sample: SampleRecord, metric: Metric): number | null {
  const { input_tokens: input, cache_read_tokens: read, cache_write_tokens: written } = sample
  switch (metric) {
    case 'turns':
      return sample.turns
    case 'toolCalls':
      return sample.tool_calls
    case 'inputTokens':
      return input === null ? null : input + (read ?? 0) + (written ?? 0)
    case 'cachedTokens':
      return read
    case 'outputTokens':
      return sample.output_tokens
    case 'costUsd':
      return sample.cost_usd
    case 'seconds':
      return sample.milliseconds === null ? null : sample.milliseconds / 1_000
  }
}

function valuesOf(samples: readonly SampleRecord[], metric: Metric): readonly number[] {
  return samples.flatMap((sample) => valueOf(sample, metric) ?? [])
}

function summarizeMetric(values: readonly number[]): MetricSummary | null {
  const moments = momentsOf(values)
  if (moments === undefined) return null
  const { count, mean } = moments
  return { count, mean, total: mean * count, interval: meanInterval(moments) ?? null }
}

/** The difference of two arms: the second minus the first. */
export interface Difference {
  readonly metric: 'passRate' | 'verifiedRate' | Metric
  readonly first: number | null
  readonly second: number | null
  readonly difference: number | null
  readonly interval: Interval | null
  /** The interval excludes zero. */
  readonly isSignificant: boolean
  /** How the interval was computed. */
  readonly method: 'newcombe' | 'paired' | 'welch' | null
}

/** One side of a comparison. */
export interface Side {
  readonly evalId: string
  readonly arm: Pick<ArmRecord, 'name' | 'model'>
  readonly samples: readonly SampleRecord[]
}

export interface Comparison {
  readonly first: ArmSummary & { readonly evalId: string }
  readonly second: ArmSummary & { readonly evalId: string }
  /** Tasks that both have, with the same digest. Only these are compared. */
  readonly tasks: readonly string[]
  /** Tasks that only one has, or that differ. */
  readonly leftOut: readonly string[]
  readonly differences: readonly Difference[]
}

/**
 * Compares two arms, of one eval or of two, over the tasks that both have. Means are paired by task: the interval is
 * that of the mean of the differences of the tasks. With one task, it is Welch's over the samples.
 */
export function compareArms(first: Side, second: Side): Comparison {
  const digestsOf = ({ samples }: Side) => new Map(samples.map(({ task, task_digest: digest }) => [task, digest]))
  const [a, b] = [digestsOf(first), digestsOf(second)]
  const all = [...new Set([...a.keys(), ...b.keys()])].toSorted()
  const tasks = all.filter((task) => a.has(task) && a.get(task) === b.get(task))
  const common = ({ samples }: Side) => samples.filter(({ task }) => tasks.includes(task))
  const [left, right] = [common(first), common(second)]
  return {
    first: { evalId: first.evalId, ...summarizeArm(first.arm, left) },
    second: { evalId: second.evalId, ...summarizeArm(second.arm, right) },
    tasks,
    leftOut: all.filter((task) => !tasks.includes(task)),
    differences: [
      compareRates('passRate', left.filter(isScored), right.filter(isScored), ({ state }) => state === 'passed'),
      compareRates('verifiedRate', left.filter(isScored), right.filter(isScored), ({ verified }) => verified === 1),
      ...metrics.map((metric) => compareMeans(metric, tasks, left.filter(isScored), right.filter(isScored))),
    ],
  }
}

function compareRates(
  metric: Difference['metric'],
  left: readonly SampleRecord[],
  right: readonly SampleRecord[],
  isSuccess: (sample: SampleRecord) => boolean,
): Difference {
  const rateOf = (samples: readonly SampleRecord[]) => ({
    successes: samples.filter(isSuccess).length,
    total: samples.length,
  })
  const [a, b] = [rateOf(left), rateOf(right)]
  const interval = differenceOfRates(b, a)
  if (interval === undefined) return noDifference(metric)
  const [first, second] = [a.successes / a.total, b.successes / b.total]
  return {
    metric,
    first,
    second,
    difference: second - first,
    interval,
    isSignificant: isSignificant(interval),
    method: 'newcombe',
  }
}

function compareMeans(
  metric: Metric,
  tasks: readonly string[],
  left: readonly SampleRecord[],
  right: readonly SampleRecord[],
): Difference {
  const of = (samples: readonly SampleRecord[], task: string): Moments | undefined =>
    momentsOf(
      valuesOf(
        samples.filter((sample) => sample.task === task),
        metric,
      ),
    )
  const pairs = tasks.flatMap((task) => {
    const [a, b] = [of(left, task), of(right, task)]
    return a === undefined || b === undefined ? [] : [{ a, b }]
  })
  const [pair] = pairs
  if (pair === undefined) return noDifference(metric)
  const differences = momentsOf(pairs.map(({ a, b }) => b.mean - a.mean))
  const mean = (side: 'a' | 'b') => pairs.reduce((sum, each) => sum + each[side].mean, 0) / pairs.length
  const isPaired = pairs.length > 1 && differences !== undefined && differences.variance > 0
  const interval = isPaired
    ? meanInterval(differences)
    : pairs.length === 1
      ? differenceOfMeans(pair.b, pair.a)
      : undefined
  const [first, second] = [mean('a'), mean('b')]
  return {
    metric,
    first,
    second,
    difference: second - first,
    interval: interval ?? null,
    isSignificant: isSignificant(interval),
    method: interval === undefined ? null : isPaired ? 'paired' : 'welch',
  }
}

function noDifference(metric: Difference['metric']): Difference {
  return { metric, first: null, second: null, difference: null, interval: null, isSignificant: false, method: null }
}
