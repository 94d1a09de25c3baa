import { type Fault, type FaultKind, faultKinds } from './faults.js'
import type { MemorySample } from './memory.js'
import type { SoakOptions } from './options.js'
import { type EndedRun, quantilesOf, type Recovery, recoveryByKind } from './recovery.js'

/** The result of a soak. Times are milliseconds since 1970. */
export interface SoakReport {
  readonly options: SoakOptions
  readonly startedAt: number
  /** Milliseconds until the fleet was ready. */
  readonly setUpMs: number
  /** Milliseconds from the start of the first run to the end of the last one. */
  readonly durationMs: number
  readonly runs: readonly EndedRun[]
  readonly faults: readonly Fault[]
  /** Kinds of faults that have touched no run. */
  readonly missing: readonly FaultKind[]
  readonly recoveries: readonly Recovery[]
  readonly memory: readonly MemorySample[]
  /** Number of effects that the ledger has applied, and of requests for them. */
  readonly effects: number
  readonly requests: number
  /** `once` effects of unknown outcome. */
  readonly unknown: readonly string[]
  /** Worker processes that ended before they were ready, and were started again. */
  readonly failedStarts: number
  readonly reapedContainers: number
  readonly unrecordedValues: number
  readonly values: number
  readonly streams: number
  /** Number of live streams that were read, and of those whose reader had its end before the last events came. */
  readonly followed: number
  readonly endedEarly: number
  readonly problems: Problems
}

/** What must not happen. */
export interface Problems {
  /** Runs that failed or returned something else. */
  readonly results: readonly string[]
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly leaked: readonly string[]
  readonly nondeterministic: readonly string[]
  /** The end of the output of workers that ended by themselves. */
  readonly died: readonly string[]
}

/** A figure of the report, with its name. */
export type Figure = readonly [name: string, value: string]

export function figuresOf(report: SoakReport): readonly Figure[] {
  const { options, problems } = report
  const calls = report.runs.flatMap((run) => run.calls)
  const latency = quantilesOf(calls.map(({ scheduledAt, completedAt }) => completedAt - scheduledAt))
  const durations = quantilesOf(report.runs.map(({ startedAt, endedAt }) => endedAt - startedAt))
  const recovery = quantilesOf(report.recoveries.map(({ ms }) => ms))
  const minutes = report.durationMs / 60_000
  const faults = faultKinds.map((kind) => `${kind} ${report.faults.filter((each) => each.kind === kind).length}`)
  const largest = Math.max(0, ...report.memory.map(({ largestWorker }) => largestWorker))
  return [
    ['seed', String(options.seed)],
    ['runs', `${report.runs.length} (asked for ${options.runs}), ${options.atOnce} at a time`],
    ['fleet', `${options.hosts} sandbox hosts, ${options.workers} workers, Temporal on PostgreSQL, Redis`],
    ['duration', `${seconds(report.durationMs)}, after ${seconds(report.setUpMs)} for the start of the fleet`],
    ['faults', `${report.faults.length}: ${faults.join(', ')}`],
    ['effects', `${report.effects}, asked for ${report.requests} times`],
    [
      'lost, doubled, leaked',
      [problems.lost, problems.doubled, problems.leaked].map(({ length }) => length).join(', '),
    ],
    ['wrong or failed runs', String(problems.results.length)],
    ['histories that do not replay', String(problems.nondeterministic.length)],
    ['workers that ended by themselves', String(problems.died.length)],
    ['`once` effects of unknown outcome', String(report.unknown.length)],
    [
      'throughput',
      `${(report.runs.length / minutes).toFixed(1)} runs and ${(calls.length / minutes).toFixed(0)} calls a minute`,
    ],
    ['a call, scheduled to completed', `p50 ${seconds(latency.p50)}, p99 ${seconds(latency.p99)}`],
    ['a run', `p50 ${seconds(durations.p50)}, p99 ${seconds(durations.p99)}, max ${seconds(durations.max)}`],
    ['recovery', `p50 ${seconds(recovery.p50)}, p99 ${seconds(recovery.p99)}, max ${seconds(recovery.max)}`],
    ...Object.entries(recoveryByKind(report.recoveries)).map(([kind, { count, p50, p99, max }]): Figure => [
      `recovery from ${kind}`,
      `${count} runs touched, p50 ${seconds(p50)}, p99 ${seconds(p99)}, max ${seconds(max)}`,
    ]),
    ['largest worker', `${(largest / 2 ** 20).toFixed(0)} MiB`],
    ['worker starts that were repeated', String(report.failedStarts)],
    ['containers that a reaper removed at the end', String(report.reapedContainers)],
    ['values', `${report.values}, and ${report.unrecordedValues} of attempts that died, which the collection removed`],
    ['streams in Redis, all with an expiry', String(report.streams)],
    ['followed live streams', `${report.followed}, of which ${report.endedEarly} ended before their last events came`],
  ]
}

/** The report as lines for a terminal. */
export function describeSoak(report: SoakReport): string {
  const figures = figuresOf(report)
  const width = Math.max(...figures.map(([name]) => name.length))
  const lines = figures.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
  return ['soak report', ...lines, ...describeProblems(report).map((line) => `  ${line}`)].join('\n')
}

/** What has happened and must not; empty after a good soak. */
export function describeProblems({ problems }: SoakReport): readonly string[] {
  return Object.entries(problems).flatMap(([kind, all]: [string, readonly string[]]) =>
    all.map((problem) => `${kind}: ${problem}`),
  )
}

function seconds(milliseconds: number | undefined): string {
  return milliseconds === undefined ? 'none' : `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`
}
