import { executionHistories, type History, replayFailures } from '../../../support/environment/histories.js'
import { checkAllEffects } from './effect-check.js'
import { FaultInjector } from './faults.js'
import { startFleet, workersOf } from './fleet.js'
import { findLeftovers } from './leftovers.js'
import { MemorySampler } from './memory.js'
import type { SoakOptions } from './options.js'
import { endedRun, recoveriesOf } from './recovery.js'
import type { SoakReport } from './report.js'
import { checkStreams } from './stream-check.js'
import { soakScript } from './workload.js'
import { type FinishedRun, scriptedRuns, Workload } from './workload-driver.js'

/** Tools of the workload, whose activities are calls. Local calls have none of their own. */
const tools = new Set(['charge', 'send_once', 'mark', 'mark_once'])

export interface SoakResult {
  readonly report: SoakReport
  /** The histories of the runs with the longest recoveries. */
  readonly slowest: readonly { readonly workflowId: string; readonly chain: readonly History[] }[]
}

/** Number of histories that a result has. */
const slowestRuns = 5

/** Runs the workload while parts of the fleet come and go, and compares what has happened with what must happen. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const setUp = Date.now()
  const fleet = await startFleet(options, soakScript(scriptedRuns(options)))
  const workload = new Workload(fleet, options)
  const injector = new FaultInjector(fleet, options, () => workload.inProgress)
  console.error(`› soak ${JSON.stringify(options)}; the first faults:\n${injector.describeSchedules()}`)
  const memory = new MemorySampler(fleet)
  const startedAt = Date.now()
  const { finished, endedAt } = await runUnderFaults(workload, injector)
  const memorySamples = memory.stop()

  const unexpectedEnds = workersOf(fleet).flatMap((worker) => worker.unexpectedEnds)
  const failedStarts = workersOf(fleet).reduce((sum, worker) => sum + worker.failedStarts, 0)
  const deaths = injector.faults.filter(({ kind }) => ['host', 'sandbox-worker', 'worker'].includes(kind)).length
  const streams = await checkStreams(finished)
  const leftovers = await findLeftovers(fleet, deaths)
  const { env, ledger } = fleet
  const histories = await Promise.all(
    finished.map(async ({ run: { workflowId } }) => ({
      workflowId,
      chain: await executionHistories(env.client, { workflowId }),
    })),
  )
  const ended = histories.map(({ workflowId, chain }) => endedRun(workflowId, chain, tools))
  const runs = finished.map(({ run }) => run)
  const unknown = finished.flatMap((each) => each.unknown)
  const effects = checkAllEffects(ledger, runs, unknown)
  const nondeterministic = await replayFailures(
    env.client,
    histories.flatMap(({ workflowId, chain }) => chain.map((history) => ({ workflowId, history }))),
  )
  const recoveries = recoveriesOf(injector.faults, ended)
  const longest = recoveries.toSorted((one, other) => other.ms - one.ms).map(({ workflowId }) => workflowId)
  const slowest = new Set([...new Set(longest)].slice(0, slowestRuns))
  const report = {
    options,
    startedAt,
    setUpMs: startedAt - setUp,
    durationMs: endedAt - startedAt,
    runs: ended,
    faults: injector.faults,
    missing: injector.missing,
    recoveries,
    memory: memorySamples,
    effects: effects.effects,
    requests: ledger.requests.length,
    unknown,
    failedStarts,
    reapedContainers: leftovers.reapedContainers,
    unrecordedValues: leftovers.unrecordedValues,
    values: leftovers.values,
    streams: leftovers.streams,
    followed: streams.followed,
    endedEarly: streams.endedEarly,
    problems: {
      results: [...finished.flatMap(({ problems }) => problems), ...streams.problems],
      lost: effects.lost,
      doubled: effects.doubled,
      leaked: leftovers.leaks,
      nondeterministic,
      died: unexpectedEnds.map((log) => log.slice(-2_000)),
    },
  }
  return { report, slowest: histories.filter(({ workflowId }) => slowest.has(workflowId)) }
}

async function runUnderFaults(
  workload: Workload,
  injector: FaultInjector,
): Promise<{ readonly finished: readonly FinishedRun[]; readonly endedAt: number }> {
  const over = new AbortController()
  const injecting = injector.inject(over.signal)
  const failed = new Promise<never>((_, reject) => void injecting.catch(reject))
  try {
    const finished = await Promise.race([workload.runAll(() => injector.missing.length > 0), failed])
    return { finished, endedAt: Date.now() }
  } finally {
    over.abort()
    await injecting.catch(() => undefined)
  }
}
