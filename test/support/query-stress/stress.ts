import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/name.js'
import { activityNames, hostQueue, roleQueue } from '../../../src/common/names.js'
import { messageOf } from '../../../src/common/errors.js'
import { queryRefused } from '../../../src/common/queries.js'
import { executionTime } from '../../../src/worker/execution-time.js'
import { installRuntime } from '../../../src/worker/index.js'
import { workflowBundle } from '../../../src/worker/workflow-bundle.js'
import { chainOf, type History, historyOf } from '../histories.js'
import { Random } from '../random.js'
import { connectClient, testTemporal, uniqueName } from '../temporal.js'
import { Fleet } from './fleet.js'
import { FakeModel } from './model.js'
import { type Execution, plansOf, type RunPlan } from './plan.js'
import { FakeSandboxes, work } from './sandbox.js'

installRuntime('ERROR', () => undefined)

/** What the Temporal UI asks every run, and what `ptc sessions list` asks. */
const queries = ['inspect', '__stack_trace', '__enhanced_stack_trace', '__temporal_workflow_metadata']

/** Runs that are under way at the same time: more than a worker's cache holds. */
const atOnce = 12

/** A run without a new event for so long hangs. How long a run takes depends on the machine and on how its workers fare. */
const patienceMs = 180_000

/** What happened. */
export interface StressReport {
  readonly runs: number
  histories: number
  events: number
  seconds: number
  readonly queries: { answered: number; refused: number; failed: number }
  readonly harm: Fleet['counts']
  /** Runs that did not end, with the reason. */
  readonly hanging: string[]
  /** Histories that do not replay, with the reason. */
  poisoned: readonly string[]
}

/** PTC_QUERY_SEED repeats the plans of an earlier test. */
export function seedOfStress(): number {
  return Number(process.env['PTC_QUERY_SEED'] ?? Date.now() % 1_000_000)
}

/** Runs the plans of a seed, asks each run all the time, harms the workflow workers, and replays every history. */
export async function stress(seed: number, count: number): Promise<StressReport> {
  const taskQueue = uniqueName('stress')
  const folder = await mkdtemp(join(tmpdir(), 'ptc-stress-'))
  const client = await connectClient(await createDataConverter({ kind: 'local', directory: folder }))
  const connection = await NativeConnection.connect({ address: testTemporal().address })
  const model = new FakeModel()
  const workers = await activityWorkers(connection, taskQueue, model)
  const working = Promise.all(workers.map((worker) => worker.run()))
  const fleet = await Fleet.start(taskQueue, { TEST_VALUES: folder })
  const began = performance.now()
  const report: StressReport = {
    runs: count,
    histories: 0,
    events: 0,
    seconds: 0,
    queries: { answered: 0, refused: 0, failed: 0 },
    harm: fleet.counts,
    hanging: [],
    poisoned: [],
  }
  const over = new AbortController()
  const harmed = fleet.harm(seed, over.signal)
  onTestFinished(() => fleet.end())
  const ptc = createPtcClient({ client, taskQueue })
  const scene: Scene = { client, taskQueue, model, ptc, report, histories: [] }
  try {
    const waiting = plansOf(seed, count).map((plan, place) => ({ plan, place }))
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await oneRun(scene, next.plan, seed * 10_000 + next.place)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    report.seconds = Math.round((performance.now() - began) / 1_000)
    report.histories = scene.histories.length
    report.events = scene.histories.reduce((sum, { history }) => sum + history.events.length, 0)
    over.abort()
    report.poisoned = await replayed(scene)
  } finally {
    over.abort()
    await harmed
    await fleet.end()
    for (const worker of workers) worker.shutdown()
    await working
    await Promise.all([connection.close(), client.connection.close()])
    await rm(folder, { recursive: true, force: true, maxRetries: 20 })
    console.log(`PTC_QUERY_SEED=${seed}: ${JSON.stringify(report)}`)
  }
  return report
}

interface Scene {
  readonly client: Client
  readonly taskQueue: string
  readonly model: FakeModel
  readonly ptc: PtcClient
  readonly report: StressReport
  readonly histories: { readonly workflowId: string; readonly history: History }[]
}

async function activityWorkers(
  connection: NativeConnection,
  taskQueue: string,
  model: FakeModel,
): Promise<readonly Worker[]> {
  const own = hostQueue(taskQueue, 'fake')
  const sandboxes = new FakeSandboxes(own)
  const create = (queue: string, activities: object): Promise<Worker> =>
    Worker.create({ connection, namespace: testTemporal().namespace, taskQueue: queue, activities })
  return Promise.all([
    create(roleQueue(taskQueue, 'model'), { [activityNames.modelTurn]: model.turn }),
    create(roleQueue(taskQueue, 'tools'), { work }),
    create(roleQueue(taskQueue, 'sandbox'), { [activityNames.openSession]: sandboxes.open }),
    create(own, {
      [activityNames.advanceSession]: sandboxes.advance,
      [activityNames.interruptSession]: sandboxes.interrupt,
      [activityNames.parkSession]: sandboxes.park,
      [activityNames.snapshotSession]: sandboxes.snapshot,
      [activityNames.closeSession]: sandboxes.close,
    }),
  ])
}

async function oneRun(scene: Scene, plan: RunPlan, seed: number): Promise<void> {
  const { report, client } = scene
  const name = uniqueName('stress')
  const workflowId = plan.type === 'session' ? sessionWorkflowId(scene.taskQueue, name) : name
  const over = new AbortController()
  const asked = ask(scene, workflowId, seed, over.signal)
  const ended = carryOut(scene, plan, name).catch((thrown: unknown) => messageOf(thrown))
  const problem = await Promise.race([ended, hangs(client, workflowId, over.signal)])
  over.abort()
  await asked
  if (problem !== undefined) {
    report.hanging.push(`${plan.type}: ${problem}`)
    const handle = client.workflow.getHandle(workflowId)
    await handle.terminate('it hangs').catch(() => undefined) // it may have failed
    await ended
  }
  for (const history of await chainOf(client, { workflowId })) scene.histories.push({ workflowId, history })
}

/** Why a history does not replay, for each of those that don't. */
async function replayed({ client, histories }: Scene): Promise<string[]> {
  const { loadedDataConverter: dataConverter } = client.options
  const options = { workflowBundle: workflowBundle(), dataConverter, ...executionTime }
  const poisoned: string[] = []
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error) poisoned.push(`${workflowId}: ${nondeterminism.exec(error.message)?.[0] ?? error.message}`)
  }
  return poisoned
}

const nondeterminism = /\[TMPRL1100\][^"]*/

/** Settles with the reason when the run can't go on, or nothing happens in it. */
async function hangs(client: Client, workflowId: string, over: AbortSignal): Promise<string> {
  let latest = ''
  let since = performance.now()
  while (performance.now() - since < patienceMs && !over.aborted) {
    await delay(2_000, undefined, { ref: false })
    const { events } = await historyOf(client, workflowId).catch(() => ({ events: [] })) // it may not have started
    const failures = events.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? '')
    const reason = failures.find((message) => nondeterminism.test(message))
    if (reason !== undefined) return reason
    const place = JSON.stringify([events[0]?.eventTime, events.length])
    if (place !== latest) [latest, since] = [place, performance.now()]
  }
  return `no event for ${patienceMs / 1_000} seconds`
}

/** Settles with undefined when the run has ended. */
async function carryOut({ client, taskQueue, model, ptc }: Scene, plan: RunPlan, name: string): Promise<undefined> {
  if (plan.type === 'session') {
    await Promise.all(plan.executions.map((execution) => execute(ptc, name, execution)))
    const ended = client.workflow.getHandle(sessionWorkflowId(taskQueue, name)).result()
    if (plan.end === 'close') await ptc.sessions.close(name).catch(() => undefined) // its time may be over by then
    await ended
    return undefined
  }
  if (plan.type === 'agent') model.plan(name, plan.turns)
  const input = plan.type === 'agent' ? { question: 'go' } : { source: JSON.stringify(plan.cell) }
  const handle = await client.workflow.start(plan.type, { workflowId: name, taskQueue, args: [input] })
  await handle.result()
  return undefined
}

async function execute(ptc: PtcClient, name: string, { cell, after, interruptAfter }: Execution): Promise<void> {
  await delay(after)
  const interrupt = interruptAfter === undefined ? undefined : AbortSignal.timeout(interruptAfter)
  await ptc.sessions.execute(name, JSON.stringify(cell), interrupt === undefined ? {} : { signal: interrupt })
}

/** One query after the other, at any moment of the run. */
async function ask({ client, report }: Scene, workflowId: string, seed: number, over: AbortSignal): Promise<void> {
  const random = new Random(seed)
  const askOnce = async (): Promise<void> => {
    try {
      await client.workflow.getHandle(workflowId).query(random.oneOf(queries))
      report.queries.answered += 1
    } catch (thrown) {
      if (messageOf(thrown).includes(queryRefused)) report.queries.refused += 1
      else report.queries.failed += 1
    }
  }
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
  while (!over.aborted) {
    await Promise.race([askOnce(), ended])
    await delay(random.below(300))
  }
}
