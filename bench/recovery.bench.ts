import { setTimeout as pause } from 'node:timers/promises'
import { type Deferred, deferred } from '../dist/common/async/deferred.js'
import { benchmark, type BenchContext } from './support/benchmark.js'
import { JournaledEffects, journaledCalls } from './support/journaled-effects.js'
import type { ResultRow } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { type Stack, startServer } from './support/stack.js'
import { startToolService } from './support/tool-service.js'
import { startPtcWorker, type WorkerProcess } from './support/worker-process.js'

const killsPerRepetition = 3

/** The kill comes at most this many milliseconds after the begin of a call. */
const killWithinMs = 1_000

/** A recovery that takes longer has failed. */
const maxMs = 5 * 60_000

const source = 'while await work():\n    pass'

const targets = {
  again: { median: 1_200, slowest: 2_000 },
  beside: { median: 1_500, slowest: 3_000 },
} as const

interface Recovery {
  /** Milliseconds from the kill until the next call began. */
  readonly callMs: number
  /** Milliseconds from the kill until the new worker was ready; 0 when another worker was ready. */
  readonly readyMs: number
}

/** The attempts of the calls, in all worker processes. */
class Attempts {
  /** The process of the last attempt. */
  lastPid = 0
  /** Whether the program continues after its current call. */
  goesOn = true
  #next: Deferred<void> = deferred()

  /** The reply to an attempt of the process with this id. */
  reply(pid: number): string {
    this.lastPid = pid
    const began = this.#next
    this.#next = deferred()
    began.resolve()
    return this.goesOn ? 'more' : 'done'
  }

  /** Waits for the begin of an attempt in another process than this one. */
  async next(exceptPid?: number): Promise<void> {
    const deadline = AbortSignal.timeout(maxMs)
    const late = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(new Error(`no call began within ${maxMs} ms`)))
    })
    do await Promise.race([this.#next.promise, late])
    while (this.lastPid === exceptPid)
  }
}

/** The worker processes of one host. */
class Fleet {
  readonly #workers = new Map<number, WorkerProcess>()
  readonly #start: () => WorkerProcess

  constructor(stack: Stack, toolUrl: string, { defer }: BenchContext) {
    this.#start = () => startPtcWorker(stack, undefined, toolUrl)
    defer(() => Promise.all([...this.#workers.values()].map((worker) => worker.kill('SIGTERM'))))
  }

  async start(): Promise<void> {
    const worker = this.#start()
    this.#workers.set(worker.pid, worker)
    await worker.waitUntilReady()
  }

  workerOf(pid: number): WorkerProcess {
    const worker = this.#workers.get(pid)
    if (worker === undefined) throw new Error(`no worker has process id ${pid}`)
    return worker
  }

  async kill(worker: WorkerProcess): Promise<void> {
    this.#workers.delete(worker.pid)
    await worker.kill('SIGKILL')
  }
}

// Kills a worker process (SIGKILL) at a random moment of a program with calls of 20 ms, and measures the time until the
// next call begins. Kills in the middle of local calls with effects are counted, too: doubled effects, and outcomes that
// are unknown. Either the worker is started again on its host, or another worker of the same host is alive.
await benchmark('recovery', async (context) => {
  const { progress, signal } = context
  const kills = context.runs * killsPerRepetition
  const stack = await startServer(context)
  const attempts = new Attempts()
  const effects = new JournaledEffects()
  const toolUrl = await startToolService(context, (path) => {
    effects.record(path)
    return attempts.reply(Number(path.split('/').at(-1)))
  })
  const fleet = new Fleet(stack, toolUrl, context)
  const killOne = async (startsAgain: boolean, isJournaled = false): Promise<Recovery> => {
    attempts.goesOn = true
    const program = await startProgram(stack, isJournaled ? journaledCalls : source)
    await attempts.next()
    await pause(Math.random() * killWithinMs, undefined, { signal })
    const killed = fleet.workerOf(attempts.lastPid)
    const from = performance.now()
    const elapsed = (): number => performance.now() - from
    const next = attempts.next(killed.pid).then(elapsed)
    await fleet.kill(killed)
    const ready = startsAgain ? fleet.start().then(elapsed) : Promise.resolve(0)
    const [callMs, readyMs] = await Promise.all([next, ready])
    attempts.goesOn = false
    const output = await outputOf(program)
    if (isJournaled) effects.endProgram(output)
    return { callMs, readyMs }
  }
  const recoveries: Record<'again' | 'journaled' | 'beside', Recovery[]> = { again: [], journaled: [], beside: [] }
  await fleet.start()
  progress(`${kills} kills of a worker that is started again`)
  while (recoveries.again.length < kills) recoveries.again.push(await killOne(true))
  progress(`${kills} kills in the middle of 50 journaled calls`)
  while (recoveries.journaled.length < kills) recoveries.journaled.push(await killOne(true, true))
  progress(`${kills} kills of a worker beside another one`)
  while (recoveries.beside.length < kills) {
    await fleet.start()
    recoveries.beside.push(await killOne(false))
  }
  const { again, journaled, beside } = recoveries
  return [
    ...rowsOf(
      'started again, next call',
      again.map(({ callMs }) => callMs),
      targets.again,
    ),
    ...rowsOf(
      'started again, worker ready',
      again.map(({ readyMs }) => readyMs),
    ),
    ...rowsOf(
      'started again, next call after ready',
      again.map(({ callMs, readyMs }) => Math.max(0, callMs - readyMs)),
    ),
    ...rowsOf(
      '50 journaled calls, next call',
      journaled.map(({ callMs }) => callMs),
      targets.again,
    ),
    ...effects.rows(kills),
    ...rowsOf(
      'beside another, next call',
      beside.map(({ callMs }) => callMs),
      targets.beside,
    ),
  ]
})

/** Rows for the median and the tail, with or without targets. */
function rowsOf(what: string, samples: readonly number[], target?: (typeof targets)['again' | 'beside']): ResultRow[] {
  const unit = 'ms'
  const slowest = Math.max(...samples)
  return [
    { name: what, unit, samples, ...(target && { target: target.median }) },
    {
      name: `${what}, slowest of ${samples.length}`,
      unit,
      samples: [slowest],
      ...(target && { target: target.slowest }),
    },
  ]
}
