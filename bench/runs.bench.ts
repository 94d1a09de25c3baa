import { randomUUID } from 'node:crypto'
import { benchmark } from './support/benchmark.js'
import { groupCpuMs, processCpuMs } from './support/cpu.js'
import { interleaved, pairsOf } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { waitUntilRemoved } from './support/sandboxes.js'
import { bareQueue, startServer } from './support/stack.js'
import { startBareWorker, startPtcWorker, type WorkerProcess } from './support/worker-process.js'

const runsAtOnce = 40

/** As in benchmark `throughput`. */
const shareOfCalls = 5

/** CPU times are those of a run. */
interface Whole {
  readonly seconds: number
  readonly workerMs: number
  readonly serverMs: number
}

// Runs many whole programs at once: each opens a session, makes sequential calls and closes the session, next to bare
// workflows with as many activities. Each side has its own worker process, on one server.
await benchmark('runs', async (context) => {
  const { progress, defer } = context
  const calls = Math.ceil(context.calls / shareOfCalls)
  const stack = await startServer(context)
  const { client, serverGroup } = stack
  const workers = { bare: startBareWorker(stack, ''), code: startPtcWorker(stack) }
  for (const worker of Object.values(workers)) defer(() => worker.kill('SIGTERM'))
  await Promise.all([workers.bare.waitUntilPolling(bareQueue), workers.code.waitUntilReady()])

  const programs = new Set<string>()
  const measure = async (worker: WorkerProcess, runOne: () => Promise<unknown>): Promise<Whole> => {
    const before = { at: performance.now(), worker: processCpuMs(worker.pid), server: groupCpuMs(serverGroup) }
    await Promise.all(Array.from({ length: runsAtOnce }, runOne))
    const seconds = (performance.now() - before.at) / 1_000
    // A worker may remove a sandbox after its run has ended. That is work for the run, too.
    await waitUntilRemoved(programs)
    const workerMs = (processCpuMs(worker.pid) - before.worker) / runsAtOnce
    const serverMs = (groupCpuMs(serverGroup) - before.server) / runsAtOnce
    return { seconds, workerMs, serverMs }
  }
  const source = `
for value in range(${calls}):
    await ping(value=value)
`
  const sides = {
    bare: () =>
      measure(workers.bare, () => {
        const options = { taskQueue: bareQueue, workflowId: randomUUID(), args: [calls] }
        return client.workflow.execute('bareSequential', options)
      }),
    code: () =>
      measure(workers.code, async () => {
        const program = await startProgram(stack, source)
        programs.add(program.workflowId)
        return outputOf(program)
      }),
  }
  progress('warming up')
  await interleaved(1, sides)
  progress(`${context.runs} repetitions of ${runsAtOnce} whole runs at once, ${calls} calls each`)
  const pair = pairsOf(`${runsAtOnce} whole runs`, await interleaved(context.runs, sides))
  return [
    ...pair('seconds', 'time', 's', { code: { target: 1.25 } }),
    ...pair('workerMs', 'CPU of the worker, a run', 'ms', { code: { target: 1.5 } }),
    ...pair('serverMs', 'CPU of the server, a run', 'ms', { code: {} }),
  ]
})
