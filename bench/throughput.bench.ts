import { randomUUID } from 'node:crypto'
import { type Deferred, deferred } from '../dist/common/async/deferred.js'
import { benchmark } from './support/benchmark.js'
import { groupCpuMs, processCpuMs } from './support/cpu.js'
import { interleaved, pairsOf, type ResultRow } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { bareQueue, startServer } from './support/stack.js'
import { startToolService } from './support/tool-service.js'
import { startBareWorker, startPtcWorker, type WorkerProcess } from './support/worker-process.js'

const runsAtOnce = [40, 200] as const

/** Fewer than `--calls`, which is meant for a single program. */
const shareOfCalls = 5

/** Many runs take minutes. */
const maxRepetitions = 3

const source = (tool: 'local_effect' | 'ping', calls: number): string => `
await gate(name="start")
for value in range(${calls}):
    await ${tool}(value=value)
await gate(name="end")
`

interface Throughput {
  readonly perSecond: number
  /** CPU time of a call. */
  readonly workerMs: number
  readonly serverMs: number
}

/** Holds runs until all of them have arrived and the gate is opened. */
class Gate {
  readonly #all: Deferred<void> = deferred()
  readonly #opened: Deferred<void> = deferred()
  #missing: number

  constructor(runs: number) {
    this.#missing = runs
  }

  async pass(): Promise<string> {
    this.#missing -= 1
    if (this.#missing === 0) this.#all.resolve()
    await this.#opened.promise
    return 'open'
  }

  get allArrived(): Promise<void> {
    return this.#all.promise
  }

  open(): void {
    this.#opened.resolve()
  }
}

// Runs many programs at once, each with sequential calls, next to bare workflows with as many activities: calls per
// second, and the CPU time of a call. The same for local calls with an effect. Each side has its own worker process, on
// one server.
await benchmark('throughput', async (context) => {
  const { progress, defer } = context
  const calls = Math.ceil(context.calls / shareOfCalls)
  const repetitions = Math.min(context.runs, maxRepetitions)
  const stack = await startServer(context)
  const { client, serverGroup } = stack
  let gates = { start: new Gate(0), end: new Gate(0) }
  const toolUrl = await startToolService(context, (path) => gates[path === 'gate/start' ? 'start' : 'end'].pass())
  const workers = { bare: startBareWorker(stack, toolUrl), code: startPtcWorker(stack, undefined, toolUrl) }
  for (const worker of Object.values(workers)) defer(() => worker.kill('SIGTERM'))
  await Promise.all([workers.bare.waitUntilPolling(bareQueue), workers.code.waitUntilReady()])

  /** @param runOne resolves when the run has ended */
  const measure = async (worker: WorkerProcess, count: number, runOne: () => Promise<unknown>): Promise<Throughput> => {
    gates = { start: new Gate(count), end: new Gate(count) }
    const { start, end } = gates
    const ended = Promise.all(Array.from({ length: count }, runOne))
    // A run that fails does not arrive.
    await Promise.race([start.allArrived, ended])
    const before = { at: performance.now(), worker: processCpuMs(worker.pid), server: groupCpuMs(serverGroup) }
    start.open()
    await Promise.race([end.allArrived, ended])
    const seconds = (performance.now() - before.at) / 1_000
    // The arrival at the second gate is a call, too.
    const total = count * (calls + 1)
    const throughput = {
      perSecond: total / seconds,
      workerMs: (processCpuMs(worker.pid) - before.worker) / total,
      serverMs: (groupCpuMs(serverGroup) - before.server) / total,
    }
    end.open()
    await ended
    return throughput
  }
  const sides = (count: number) => ({
    bare: () =>
      measure(workers.bare, count, () => {
        const options = { taskQueue: bareQueue, workflowId: randomUUID(), args: [calls] }
        return client.workflow.execute('bareBetweenGates', options)
      }),
    code: () => measure(workers.code, count, async () => outputOf(await startProgram(stack, source('ping', calls)))),
    local: () =>
      measure(workers.code, count, async () => outputOf(await startProgram(stack, source('local_effect', calls)))),
  })

  progress('warming up')
  await interleaved(1, sides(runsAtOnce[0]))
  const rows: ResultRow[] = []
  for (const count of runsAtOnce) {
    progress(`${repetitions} repetitions of ${count} runs at once, ${calls} calls each`)
    const pair = pairsOf(`${count} runs`, await interleaved(repetitions, sides(count)))
    rows.push(
      ...pair('perSecond', 'calls', '/s', { code: { targetAtLeast: 0.95 }, local: { targetAtLeast: 3 } }),
      ...pair('workerMs', 'CPU of the worker, a call', 'ms', { code: { target: 1.3 }, local: {} }),
      ...pair('serverMs', 'CPU of the server, a call', 'ms', { code: { target: 1.2 }, local: {} }),
    )
  }
  return rows
})
