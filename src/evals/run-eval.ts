import type { PtcClient } from '../client/index.js'
import { digestJson } from '../common/calls/call-identity.js'
import { raceWithSignal } from '../common/async/abort.js'
import { deferred } from '../common/async/deferred.js'
import { ConcurrencyLimit } from '../common/async/concurrency-limit.js'
import { failpoint } from '../common/failpoint.js'
import type { WatchWaits } from './samples/answer-waits.js'
import { judgeCostUsd } from './samples/check-runs.js'
import { mayPassLater } from './samples/classify-error.js'
import { runSample, type RunSampleResult } from './samples/run-sample.js'
import type { SampleState } from './samples/sample.js'
import type { EvalStore, PlannedEval, PlannedSample } from './store/eval-store.js'
import type { SampleRecord } from './store/records.js'
import type { EvalTask } from './tasks/load-tasks.js'

/** How the samples of one arm reach their workers. */
export interface ArmRuntime {
  readonly client: PtcClient
  readonly watchWaits: WatchWaits
  /** Name of the agent of a task. Undefined: no agent. */
  readonly agentOf: (task: EvalTask) => string | undefined
  readonly toolsOf: (task: EvalTask) => readonly string[]
  readonly hasPrice: boolean
  readonly isFree: boolean
}

export interface RunEvalOptions {
  readonly store: EvalStore
  readonly id: string
  readonly tasks: readonly EvalTask[]
  /** In the order of the arms of the eval. */
  readonly runtimes: readonly ArmRuntime[]
  readonly judgeModel: string | undefined
  readonly concurrency: number
  /** Attempts of a sample in addition to the first, after failures of the infrastructure. */
  readonly retries: number
  readonly onSample: (progress: SampleProgress) => void
  readonly signal: AbortSignal
}

export interface SampleProgress {
  readonly sample: SampleRecord
  readonly state: SampleState
  readonly done: number
  readonly total: number
  readonly reason?: string | undefined
}

/** Milliseconds between two signs of life in the database. */
const aliveIntervalMs = 5_000

/** The samples of an eval, in an order that follows neither the tasks nor the arms: a warm cache or a busy machine favours none. */
export function planEval(plan: Omit<PlannedEval, 'key' | 'samples'>, tasks: readonly EvalTask[]): PlannedEval {
  const { arms, repeats, version, label } = plan
  const samples: PlannedSample[] = []
  for (const { name, digest } of tasks) {
    for (const [arm, { model, digest: configuration }] of arms.entries()) {
      for (let repeat = 1; repeat <= repeats; repeat += 1) {
        // Everything that makes two samples differ. Two repeats are two draws.
        const key = digestJson([name, digest, model, configuration, repeat])
        samples.push({ key, task: name, taskDigest: digest, arm, repeat })
      }
    }
  }
  samples.sort((a, b) => (a.key < b.key ? -1 : 1))
  const key = digestJson([version, label, samples.map((sample) => sample.key)])
  return { ...plan, key, samples }
}

/**
 * Runs the samples of an eval that have not ended, and attaches to those that ran when the harness was interrupted.
 *
 * @throws the reason of the signal; PtcError of the store
 */
export async function runEval(options: RunEvalOptions): Promise<void> {
  const { store, id, concurrency, signal } = options
  const stopped = new AbortController()
  const both = AbortSignal.any([signal, stopped.signal])
  const timer = setInterval(() => {
    try {
      store.keepAlive(id)
    } catch (thrown) {
      stopped.abort(thrown)
    }
  }, aliveIntervalMs)
  const limit = new ConcurrencyLimit(concurrency)
  try {
    const all = store.samples(id)
    // Runs that were interrupted wait for their harness: they come first.
    const open = [
      ...all.filter(({ state }) => state === 'running'),
      ...all.filter(
        ({ state, kind, attempt }) =>
          state === 'pending' || (attempt <= options.retries && mayPassLater({ state, kind })),
      ),
    ]
    const work = {
      options: { ...options, signal: both },
      progress: new Progress(all.length, open.length, options.onSample),
      reservations: new Reservations(),
    }
    // The first failure stops the others: their runs continue, and the same eval attaches to them later.
    const stop = (thrown: unknown): void => stopped.abort(thrown)
    await Promise.all(open.map((sample) => limit.run(() => runAttempts(work, sample).catch(stop))))
    both.throwIfAborted()
  } finally {
    clearInterval(timer)
    store.end(id)
  }
}

class Progress {
  readonly #total: number
  readonly #onSample: RunEvalOptions['onSample']
  #done: number

  constructor(total: number, open: number, onSample: RunEvalOptions['onSample']) {
    this.#total = total
    this.#done = total - open
    this.#onSample = onSample
  }

  report(sample: SampleRecord, state: SampleState, reason?: string): void {
    this.#done += 1
    this.#onSample({ sample, state, reason, done: this.#done, total: this.#total })
  }
}

/** Samples of this process with a reservation. */
class Reservations {
  #held = 0
  #released = deferred<void>()

  /**
   * Reserves by `reserve`, which returns false when too much is reserved: then waits until another sample has ended.
   *
   * @returns false when nothing else is reserved, so that waiting would not help
   */
  async take(reserve: () => boolean, signal: AbortSignal): Promise<boolean> {
    while (!reserve()) {
      if (this.#held === 0) return false
      await raceWithSignal(signal, this.#released.promise)
    }
    this.#held += 1
    return true
  }

  release(): void {
    this.#held -= 1
    this.#released.resolve()
    this.#released = deferred<void>()
  }
}

interface EvalWork {
  readonly options: RunEvalOptions
  readonly progress: Progress
  readonly reservations: Reservations
}

async function runAttempts({ options, progress, reservations }: EvalWork, sample: SampleRecord): Promise<void> {
  const { store, id, tasks, runtimes, retries, signal } = options
  const task = tasks.find(({ name }) => name === sample.task)
  const runtime = runtimes[sample.arm]
  // The key of the eval has the digests of its tasks and arms.
  if (task === undefined || runtime === undefined) throw new Error(`eval ${id} has no task ${sample.task}`)
  const isInterrupted = sample.state === 'running'
  for (let attempt = isInterrupted ? sample.attempt : sample.attempt + 1; ; attempt += 1) {
    signal.throwIfAborted()
    const wasInterrupted = isInterrupted && attempt === sample.attempt
    const workflowId = workflowIdOf(id, sample, attempt)
    const reservedUsd = reservationOf(task, runtime)
    // An interrupted sample has its reservation.
    const reserve = () => wasInterrupted || store.start(id, sample.key, { attempt, workflowId, reservedUsd })
    if (!(await reservations.take(reserve, signal))) {
      store.refuse(id, sample.key)
      // An earlier attempt has ended with an error, which stays.
      progress.report(sample, attempt === 1 ? 'not_run' : 'error', 'the maximum cost of the eval is reserved or spent')
      return
    }
    failpoint('eval.reserved')
    const { end, close } = await runRecorded(options, sample, { task, runtime, workflowId, wasInterrupted }).finally(
      () => reservations.release(),
    )
    await close().catch(() => undefined)
    if (attempt > retries || !mayPassLater(end)) {
      progress.report(sample, end.state, end.reason)
      return
    }
  }
}

interface Attempt {
  readonly task: EvalTask
  readonly runtime: ArmRuntime
  readonly workflowId: string
  readonly wasInterrupted: boolean
}

/** Runs an attempt of a sample, and records its end. */
async function runRecorded(
  { store, id, judgeModel, signal }: RunEvalOptions,
  sample: SampleRecord,
  { task, runtime, workflowId, wasInterrupted }: Attempt,
): Promise<RunSampleResult> {
  const result = await runSample({
    ...runtime,
    task,
    workflowId,
    agent: runtime.agentOf(task),
    tools: runtime.toolsOf(task),
    judgeModel,
    wasInterrupted,
    hadTimedOut: wasInterrupted && sample.timed_out_at !== null,
    onTimeOut: () => store.timeOut(id, sample.key),
    signal,
  })
  store.finish(id, sample.key, result.end)
  return result
}

/** Deterministic, so that a harness that is started again finds the run. */
export function workflowIdOf(id: string, { task, key }: Pick<SampleRecord, 'task' | 'key'>, attempt: number): string {
  return `eval-${id}-${task}-${key.slice(0, 12)}-${attempt}`
}

/** US dollars that a sample may use, with its judges. */
function reservationOf(task: EvalTask, { isFree }: ArmRuntime): number {
  if (isFree) return 0
  const judges = task.check.filter(({ judge }) => judge !== undefined).length
  return task.limits.costUsd + judges * judgeCostUsd
}
