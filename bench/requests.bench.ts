import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../dist/dev-server/free-ports.js'
import { scrape, total } from '../test/support/monitoring/scrape.js'
import { benchmark } from './support/benchmark.js'
import type { ResultRow } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { startServer } from './support/stack.js'
import { startPtcWorker } from './support/worker-process.js'

const allRoles = ['workflow', 'model', 'tools', 'sandbox'] as const

/** Calls of a whole run, as in benchmark `runs`. */
const callsOfRun = 20

/** Milliseconds between two looks at the polls of a worker that has just started. */
const lookMs = 2_000

const source = (calls: number): string => `
for value in range(${calls}):
    await ping(value=value)
`

// Counts what Temporal's limits of a namespace count: the long polls of an idle worker, by its roles, and the requests
// of workers for a run and for a call.
await benchmark('requests', async (context) => {
  const { progress, defer, calls, runs } = context
  const stack = await startServer(context)
  const startWorker = async (roles: readonly string[]) => {
    const [port = 0] = await freePorts([0])
    const address = `127.0.0.1:${port}`
    const worker = startPtcWorker(stack, undefined, '', roles.join(','), { PTC_METRICS_ADDRESS: address })
    defer(() => worker.kill('SIGTERM'))
    await worker.waitUntilReady()
    return { worker, address }
  }
  /** Long polls in progress, when their number does not change any more. */
  const pollsOf = async (address: string) => {
    for (let before = Number.NaN; ; await pause(lookMs)) {
      const samples = await scrape(address)
      const all = total(samples, 'temporal_num_pollers')
      const activities = total(samples, 'temporal_num_pollers', { poller_type: 'activity_task' })
      if (all > 0 && all === before) return { activities, workflows: all - activities }
      before = all
    }
  }
  const rows: ResultRow[] = []
  for (const roles of [...allRoles.map((role) => [role]), allRoles]) {
    const name = roles.length > 1 ? 'all roles' : `role \`${roles[0]}\``
    progress(`long polls of a worker with ${name}`)
    const { worker, address } = await startWorker(roles)
    const polls = await pollsOf(address)
    rows.push(
      { name: `${name}: polls for activities`, unit: 'requests', samples: [polls.activities] },
      { name: `${name}: polls for workflow tasks`, unit: 'requests', samples: [polls.workflows] },
    )
    await worker.kill('SIGTERM')
  }

  const { address } = await startWorker(allRoles)
  await pollsOf(address)
  const requestsOf = async (count: number): Promise<number> => {
    const sum = async () => {
      const samples = await scrape(address)
      return total(samples, 'temporal_request') + total(samples, 'temporal_long_request')
    }
    const before = await sum()
    await outputOf(await startProgram(stack, source(count)))
    const after = await sum()
    if (after === before) throw new Error('the worker counts no requests')
    return after - before
  }
  await requestsOf(1)
  const samples: { readonly run: number; readonly call: number }[] = []
  progress(`${runs} repetitions of runs with 0, ${callsOfRun} and ${calls} calls`)
  for (let run = 0; run < runs; run += 1) {
    const [none, some, many] = [await requestsOf(0), await requestsOf(callsOfRun), await requestsOf(calls)]
    samples.push({ run: some, call: (many - none) / calls })
  }
  return [
    ...rows,
    { name: `a whole run of ${callsOfRun} calls`, unit: 'requests', samples: samples.map(({ run }) => run) },
    { name: 'a sequential call', unit: 'requests', samples: samples.map(({ call }) => call) },
  ]
})
