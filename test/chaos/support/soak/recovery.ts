import type { History } from '../../../support/environment/histories.js'
import { type Fault, type FaultKind, faultKinds } from './faults.js'

/** A completed call of a run. Times are milliseconds since 1970, by the server's clock, which is that of the test. */
export interface CompletedCall {
  readonly scheduledAt: number
  /** Start of the attempt that completed it. */
  readonly startedAt: number
  readonly completedAt: number
}

/** A run that has ended. */
export interface EndedRun {
  readonly workflowId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: readonly CompletedCall[]
}

/**
 * The time from a fault until a run that it touched has completed a call whose attempt began after the fault, or has
 * ended. A call that was in progress does not count when its attempt outlived the fault: it says nothing about the run.
 */
export interface Recovery {
  readonly kind: FaultKind
  readonly victim: string
  readonly workflowId: string
  readonly ms: number
}

type Event = History['events'][number]

/** @param tools names of the tools: types of the activities that are calls */
export function endedRun(workflowId: string, chain: readonly History[], tools: ReadonlySet<string>): EndedRun {
  const events = chain.flatMap((history) => history.events)
  const first = events[0]
  const last = events.at(-1)
  if (first === undefined || last === undefined) throw new Error(`${workflowId} has no history`)
  return {
    workflowId,
    startedAt: timeOf(first),
    endedAt: timeOf(last),
    calls: chain.flatMap((history) => completedCalls(history, tools)),
  }
}

function completedCalls({ events }: History, tools: ReadonlySet<string>): readonly CompletedCall[] {
  const scheduled = new Map<string, number>()
  const started = new Map<string, number>()
  return events.flatMap((event) => {
    const { activityTaskScheduledEventAttributes: call, activityTaskStartedEventAttributes: start } = event
    if (call && tools.has(call.activityType?.name ?? '')) scheduled.set(String(event.eventId), timeOf(event))
    if (start) started.set(String(start.scheduledEventId), timeOf(event))
    const id = String(event.activityTaskCompletedEventAttributes?.scheduledEventId)
    const [scheduledAt, startedAt] = [scheduled.get(id), started.get(id)]
    if (scheduledAt === undefined || startedAt === undefined) return []
    return [{ scheduledAt, startedAt, completedAt: timeOf(event) }]
  })
}

export function recoveriesOf(faults: readonly Fault[], runs: readonly EndedRun[]): readonly Recovery[] {
  const byId = new Map(runs.map((run) => [run.workflowId, run]))
  return faults.flatMap(({ kind, victim, at, touched }) =>
    touched.flatMap((workflowId) => {
      const run = byId.get(workflowId)
      // The run may have ended between the look-up and the fault.
      if (run === undefined || run.endedAt <= at) return []
      const next = run.calls.filter(({ startedAt }) => startedAt > at).map(({ completedAt }) => completedAt)
      return [{ kind, victim, workflowId, ms: Math.min(run.endedAt, ...next) - at }]
    }),
  )
}

/** Milliseconds. Undefined without samples. */
export interface Quantiles {
  readonly count: number
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly max: number | undefined
}

export function quantilesOf(samples: readonly number[]): Quantiles {
  const sorted = samples.toSorted((one, other) => one - other)
  const at = (share: number): number | undefined => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) }
}

export function recoveryByKind(recoveries: readonly Recovery[]): Readonly<Record<FaultKind, Quantiles>> {
  const entries = faultKinds.map((kind) => [
    kind,
    quantilesOf(recoveries.filter((each) => each.kind === kind).map(({ ms }) => ms)),
  ])
  return Object.fromEntries(entries) as Record<FaultKind, Quantiles>
}

function timeOf({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6)
}
