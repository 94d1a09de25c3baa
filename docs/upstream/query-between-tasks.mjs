// node docs/upstream/query-between-tasks.mjs
// Needs a Temporal server: TEMPORAL_ADDRESS, by default 127.0.0.1:7233. RUNS is the number of workflows (10).
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
})
const address = process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233'
const runs = Number(process.env.RUNS ?? 10)
const timerMs = 6_000
const workflowsPath = fileURLToPath(new URL('query-between-tasks-workflows.mjs', import.meta.url))
const taskQueue = `query-between-tasks-${Date.now()}`

const connection = await Connection.connect({ address })
const native = await NativeConnection.connect({ address })
const client = new Client({ connection })

const startWorker = async () => {
  const activities = { step: async () => undefined }
  const worker = await Worker.create({ connection: native, taskQueue, workflowsPath, activities })
  const ended = worker.run()
  return async () => {
    worker.shutdown()
    await ended
  }
}

const hasEvent = async (handle, attributes) => {
  while (!(await handle.fetchHistory()).events.some((event) => event[attributes])) await delay(100)
}

// 1. Each workflow starts a timer. Then there is no worker.
let stopWorker = await startWorker()
const handles = await Promise.all(
  Array.from({ length: runs }, (_, run) =>
    client.workflow.start('alarm', { taskQueue, workflowId: `${taskQueue}-${run}`, args: [timerMs] }),
  ),
)
await Promise.all(handles.map((handle) => hasEvent(handle, 'timerStartedEventAttributes')))
await stopWorker()

// 2. A query is sent while no workflow task is pending, then the timer fires.
const answers = handles.map((handle) => handle.query('state').catch((error) => error.message))
await Promise.all(handles.map((handle) => hasEvent(handle, 'timerFiredEventAttributes')))
// Long enough for the workflow task to leave the queue of the worker that is gone (the default sticky timeout is 10 s).
await delay(11_000)

// 3. A worker starts. It answers the queries, and the runs go on.
stopWorker = await startWorker()
console.log('answers:', JSON.stringify(await Promise.all(answers)))
await Promise.all(handles.map((handle) => hasEvent(handle, 'activityTaskCompletedEventAttributes')))
await stopWorker()

// 4. Another worker has none of the runs in its cache. It must replay them to go on.
stopWorker = await startWorker()
await Promise.all(handles.map((handle) => handle.signal('finish')))
const endings = await Promise.all(
  handles.map((handle) => Promise.race([handle.result().then(() => 'completed'), delay(20_000, 'hangs')])),
)
console.log('completed:', endings.filter((ending) => ending === 'completed').length, 'of', runs)
console.log('hanging:', endings.filter((ending) => ending === 'hangs').length, 'of', runs)

// 5. The histories are replayed.
let failed = 0
for (const handle of handles) {
  try {
    await Worker.runReplayHistory({ workflowsPath }, await handle.fetchHistory(), handle.workflowId)
  } catch (error) {
    failed += 1
    if (failed === 1) console.log(/\[TMPRL1100\][^"]*/.exec(error.message)?.[0] ?? error.message)
  }
}
console.log('histories that do not replay:', failed, 'of', runs)

await Promise.all(handles.map((handle) => handle.terminate('the test is over').catch(() => undefined)))
await stopWorker()
await native.close()
await connection.close()
process.exit(failed > 0 ? 1 : 0)
