import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { onTestFinished } from 'vitest'
import type { PtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import { activityNames, hostQueue, queryRefusedMessage, roleQueue, sandboxQueue } from '../../../src/common/names.js'
import { messageOf } from '../../../src/common/errors.js'
import {
  executionHistories,
  type History,
  nondeterminism,
  readHistory,
  replayFailures,
} from '../environment/histories.js'
import { TestEnvironment } from '../environment/test-environment.js'
import { temporaryFolder } from '../folders.js'
import { Random } from '../random.js'
import { sharedServer, uniqueName } from '../temporal/shared-server.js'
import { WorkerFleet } from './fleet.js'
import { FakeModel } from './model.js'
import { type PlannedExecution, planRuns, type PlannedRun } from './plan.js'
import { FakeSandboxes } from './sandbox.js'

const config = fileURLToPath(new URL('../../fixtures/query-stress.config.ts', import.meta.url))
const preload = new URL('preload.mjs', import.meta.url).href

/** The queries of the Temporal UI, and the query of `ptc sessions list`. */
const queries = ['inspect', '__stack_trace', '__enhanced_stack_trace', '__temporal_workflow_metadata']

/** Number of concurrent runs, which exceeds the cache of a worker. */
const concurrentRuns = 12

/** A run without a new event for this time hangs. The duration of a run depends on the machine and on the faults. */
const hangTimeoutMs = 180_000

/** The result of a stress test. */
export interface StressReport {
  readonly runs: number
  histories: number
  events: number
  seconds: number
  readonly queries: { answered: number; refused: number; failed: number }
  readonly faults: WorkerFleet['counts']
  /** Runs that did not complete, with the reason. */
  readonly hanging: string[]
  /** Histories that do not replay, with the reason. */
  nondeterministic: readonly string[]
}

/** PTC_QUERY_SEED repeats the plans of an earlier test. */
export function queryStressSeed(): number {
  return Number(process.env['PTC_QUERY_SEED'] ?? Date.now() % 1_000_000)
}

/** Runs the plans of a seed, queries each run continuously, injects worker faults, and replays every history. */
export async function runQueryStress(seed: number, count: number): Promise<StressReport> {
  const directory = await temporaryFolder()
  const env = await TestEnvironment.startProcesses({
    config,
    preload,
    store: { kind: 'local', directory },
    environment: { TEST_VALUES: directory },
    initialWorkers: [],
  })
  const { client, ptc, taskQueue } = env
  const connection = await NativeConnection.connect({ address: sharedServer().address })
  const model = new FakeModel()
  const workers = await activityWorkers(connection, taskQueue, model)
  const working = Promise.all(workers.map((worker) => worker.run()))
  const fleet = await WorkerFleet.start(env.workers)
  const began = performance.now()
  const report: StressReport = {
    runs: count,
    histories: 0,
    events: 0,
    seconds: 0,
    queries: { answered: 0, refused: 0, failed: 0 },
    faults: fleet.counts,
    hanging: [],
    nondeterministic: [],
  }
  const done = new AbortController()
  const faultInjection = fleet.injectFaults(seed, done.signal)
  onTestFinished(() => fleet.stop())
  const context: StressContext = { client, taskQueue, model, ptc, report, histories: [] }
  try {
    const waiting = planRuns(seed, count).map((plan, place) => ({ plan, place }))
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await runOne(context, next.plan, seed * 10_000 + next.place)
      }
    }
    await Promise.all(Array.from({ length: concurrentRuns }, lane))
    report.seconds = Math.round((performance.now() - began) / 1_000)
    report.histories = context.histories.length
    report.events = context.histories.reduce((sum, { history }) => sum + history.events.length, 0)
    done.abort()
    report.nondeterministic = await replayFailures(client, context.histories)
  } finally {
    done.abort()
    await faultInjection
    await fleet.stop()
    for (const worker of workers) worker.shutdown()
    await working
    await connection.close()
    console.log(`PTC_QUERY_SEED=${seed}: ${JSON.stringify(report)}`)
  }
  return report
}

interface StressContext {
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
  const own = hostQueue(taskQueue, 'fake', 'wasm')
  const sandboxes = new FakeSandboxes()
  const create = (queue: string, activities: object): Promise<Worker> =>
    Worker.create({ connection, namespace: sharedServer().namespace, taskQueue: queue, activities })
  return Promise.all([
    create(roleQueue(taskQueue, 'model'), { [activityNames.modelTurn]: model.turn }),
    create(roleQueue(taskQueue, 'tools'), { work: sandboxes.call, look: sandboxes.call }),
    create(sandboxQueue(taskQueue, 'wasm'), { [activityNames.openSession]: sandboxes.open(own) }),
    create(own, {
      [activityNames.executeStep]: sandboxes.executeStep,
      [activityNames.interruptSession]: sandboxes.interrupt,
      [activityNames.parkSession]: sandboxes.park,
      [activityNames.snapshotSession]: sandboxes.snapshot,
      [activityNames.closeSession]: sandboxes.close,
    }),
  ])
}

async function runOne(context: StressContext, plan: PlannedRun, seed: number): Promise<void> {
  const { report, client } = context
  const name = uniqueName('stress')
  const workflowId = plan.type === 'session' ? sessionWorkflowId(context.taskQueue, name) : name
  const over = new AbortController()
  const querying = queryContinuously(context, workflowId, seed, over.signal)
  const ended = executeRun(context, plan, name).catch((thrown: unknown) => messageOf(thrown))
  const problem = await Promise.race([ended, waitForHang(client, workflowId, over.signal)])
  over.abort()
  await querying
  if (problem !== undefined) {
    report.hanging.push(`${plan.type}: ${problem}`)
    const handle = client.workflow.getHandle(workflowId)
    await handle.terminate('the run hangs').catch(() => undefined) // the run may have failed
    await ended
  }
  for (const history of await executionHistories(client, { workflowId }))
    context.histories.push({ workflowId, history })
}

/** Settles with the reason when the run fails to replay, or has no new event. */
async function waitForHang(client: Client, workflowId: string, over: AbortSignal): Promise<string> {
  let latest = ''
  let since = performance.now()
  while (performance.now() - since < hangTimeoutMs && !over.aborted) {
    await delay(2_000, undefined, { ref: false })
    const { events } = await readHistory(client, workflowId).catch(() => ({ events: [] })) // it may not exist yet
    const failures = events.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? '')
    const reason = failures.find((message) => nondeterminism.test(message))
    if (reason !== undefined) return reason
    const place = JSON.stringify([events[0]?.eventTime, events.length])
    if (place !== latest) [latest, since] = [place, performance.now()]
  }
  return `no event for ${hangTimeoutMs / 1_000} seconds`
}

/** Settles when the run has ended. */
async function executeRun(
  { client, taskQueue, model, ptc }: StressContext,
  plan: PlannedRun,
  name: string,
): Promise<undefined> {
  if (plan.type === 'session') {
    await Promise.all(plan.executions.map((execution) => execute(ptc, name, execution)))
    const ended = client.workflow.getHandle(sessionWorkflowId(taskQueue, name)).result()
    if (plan.end === 'close') await ptc.sessions.close(name).catch(() => undefined) // the execution may have ended
    await ended
    return undefined
  }
  if (plan.type === 'agent') model.plan(name, plan.turns)
  const input = plan.type === 'agent' ? { question: 'go' } : { source: JSON.stringify(plan.cell) }
  const handle = await client.workflow.start(plan.type, { workflowId: name, taskQueue, args: [input] })
  await handle.result()
  return undefined
}

async function execute(ptc: PtcClient, name: string, { cell, after, interruptAfter }: PlannedExecution): Promise<void> {
  await delay(after)
  const interrupt = interruptAfter === undefined ? undefined : AbortSignal.timeout(interruptAfter)
  await ptc.sessions.execute(name, JSON.stringify(cell), interrupt === undefined ? {} : { signal: interrupt })
}

/** Sends queries one after the other, during the whole run. */
async function queryContinuously(
  { client, report }: StressContext,
  workflowId: string,
  seed: number,
  over: AbortSignal,
): Promise<void> {
  const random = new Random(seed)
  const askOnce = async (): Promise<void> => {
    try {
      await client.workflow.getHandle(workflowId).query(random.oneOf(queries))
      report.queries.answered += 1
    } catch (thrown) {
      if (messageOf(thrown).includes(queryRefusedMessage)) report.queries.refused += 1
      else report.queries.failed += 1
    }
  }
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
  while (!over.aborted) {
    await Promise.race([askOnce(), ended])
    await delay(random.below(300))
  }
}
