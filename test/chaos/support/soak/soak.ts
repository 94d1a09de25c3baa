import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowIdConflictPolicy } from '@temporalio/common'
import { messageOf, PtcError } from '../../../../src/common/errors.js'
import type { AgentResult, ProgramResult } from '../../../../src/common/run/runs.js'
import type { RunHandle } from '../../../../src/client/index.js'
import type { StreamEvent } from '../../../../src/stream/index.js'
import { executionHistories, type History, replayFailures } from '../../../support/environment/histories.js'
import { readEvents } from '../../../support/stream/shown-text.js'
import { expectLiveStream } from '../live-stream.js'
import { checkEffects } from '../oracle.js'
import { FaultInjector } from './faults.js'
import { type Fleet, startFleet, workersOf } from './fleet.js'
import { findLeftovers } from './leftovers.js'
import { MemorySampler } from './memory.js'
import type { SoakOptions } from './options.js'
import { endedRun, recoveriesOf } from './recovery.js'
import type { SoakReport } from './report.js'
import { checkResult, type SoakRun, soakRun, soakScript } from './workload.js'

/** Tools of the workload, whose activities are calls. Local calls have none of their own. */
const tools = new Set(['charge', 'send_once', 'mark', 'mark_once'])

const retryMs = 500

interface FinishedRun {
  readonly run: SoakRun
  readonly problems: readonly string[]
  readonly unknown: readonly string[]
  /** What a reader got while the run was in progress; undefined for a run that was not followed. */
  readonly followed: FollowedRun | undefined
}

interface FollowedRun {
  readonly handle: RunHandle<AgentResult | ProgramResult>
  readonly answer: string
  readonly events: readonly StreamEvent[]
}

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
  const effects = checkEffects(
    ledger.applied,
    effectsOf(runs, unknown, new Set(ledger.applied.map(({ name }) => name))),
  )
  const repeatedOnce = repeatedRequests(ledger.requests, new Set(runs.flatMap(({ onceEffects }) => onceEffects)))
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
      lost: effects.lost.map(shortened),
      doubled: [...effects.duplicates, ...repeatedOnce].map(shortened),
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

/** More than `options.runs`: runs are started until each kind of fault has touched one. */
function scriptedRuns({ runs }: SoakOptions): number {
  return 2 * runs + 300
}

/** Starts runs, so many at a time, and checks their results and live streams. */
class Workload {
  readonly #fleet: Fleet
  readonly #options: SoakOptions
  readonly #inProgress = new Set<string>()

  constructor(fleet: Fleet, options: SoakOptions) {
    this.#fleet = fleet
    this.#options = options
  }

  get inProgress(): readonly string[] {
    return [...this.#inProgress]
  }

  /** @param needsMore whether to go on when enough runs were started */
  async runAll(needsMore: () => boolean): Promise<readonly FinishedRun[]> {
    const { runs, atOnce, minutes } = this.#options
    const deadline = performance.now() + minutes * 60_000
    const finished: FinishedRun[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      while (performance.now() < deadline && (next < runs || (needsMore() && next < scriptedRuns(this.#options)))) {
        const run = soakRun(next)
        next += 1
        finished.push(await this.#runOne(run))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    return finished
  }

  async #runOne(run: SoakRun): Promise<FinishedRun> {
    const { workflowId } = run
    const handle = await this.#start(run)
    this.#inProgress.add(workflowId)
    const reading = run.work.kind === 'agent' ? readEvents(handle.stream()) : undefined
    reading?.catch(() => undefined) // reported when the run has ended
    try {
      const result = await handle.result()
      const { problems, unknown } = checkResult(run, result)
      const events = await reading
      const answer = 'answer' in result ? result.answer : ''
      return { run, problems, unknown, followed: events && { handle, answer, events } }
    } catch (thrown) {
      const problems = [`${workflowId} failed: ${messageOf(thrown)}`]
      return { run, problems, unknown: [], followed: undefined }
    } finally {
      this.#inProgress.delete(workflowId)
    }
  }

  /** A request whose answer is lost is sent again, with the same id. */
  async #start({ workflowId, work }: SoakRun): Promise<RunHandle<AgentResult | ProgramResult>> {
    const { ptc } = this.#fleet.env
    const options = { workflowId, workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING }
    for (;;) {
      try {
        return await (work.kind === 'agent'
          ? ptc.startAgent({ question: work.question }, options)
          : ptc.startProgram({ source: work.source }, options))
      } catch (thrown) {
        if (!PtcError.isInstance(thrown)) throw thrown
        if (thrown.code === 'RUN_EXISTS') return ptc.handle(workflowId)
        if (thrown.code !== 'TEMPORAL_UNREACHABLE') throw thrown
        await delay(retryMs)
      }
    }
  }
}

interface CheckedStreams {
  /** Number of live streams that were read. */
  readonly followed: number
  /** Number of those whose reader lacks the last events, which workers wrote later. */
  readonly endedEarly: number
  readonly problems: readonly string[]
}

/** Reads the live streams again, and compares them with what readers got during the faults. */
async function checkStreams(finished: readonly FinishedRun[]): Promise<CheckedStreams> {
  const all = finished.flatMap(({ followed }) => followed ?? [])
  const problems: string[] = []
  let endedEarly = 0
  const check = async ({ handle, answer, events }: FollowedRun): Promise<void> => {
    const expected = { end: { status: 'completed' }, texts: [answer], isComplete: false, mayEndEarly: true } as const
    try {
      if ((await expectLiveStream(events, handle, expected)) > 0) endedEarly += 1
    } catch (thrown) {
      problems.push(`the live stream of ${handle.workflowId} is wrong: ${messageOf(thrown)}`)
    }
  }
  await Promise.all(all.map(check))
  return { followed: all.length, endedEarly, problems }
}

/** The effects that must have happened: those of unknown outcome only if they have. */
function effectsOf(
  runs: readonly SoakRun[],
  unknown: readonly string[],
  applied: ReadonlySet<string>,
): readonly string[] {
  const isUnknown = new Set(unknown)
  return runs.flatMap(({ effects, onceEffects }) => [
    ...effects,
    ...onceEffects.filter((name) => !isUnknown.has(name) || applied.has(name)),
  ])
}

/** Names of `once` effects that were requested more than once. */
function repeatedRequests(requests: readonly { readonly name: string }[], once: ReadonlySet<string>): string[] {
  const seen = new Set<string>()
  return requests.flatMap(({ name }) => {
    if (!once.has(name)) return []
    if (seen.has(name)) return [`${name} was requested again`]
    seen.add(name)
    return []
  })
}

function shortened(name: string): string {
  return name.slice(0, 100)
}
