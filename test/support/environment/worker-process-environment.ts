import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { onTestFinished, vi } from 'vitest'
import type { AgentResult } from '../../../src/common/runs.js'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { completedReplies } from './completed-replies.js'
import { containersOf, killContainersOf, removeContainersOf, runningContainersOf } from './containers.js'
import { execInContainer } from '../docker/exec-in-container.js'
import { Ledger } from '../ledger.js'
import { fastPollOptions, pollOptions } from '../poll-options.js'
import { isRunning, type PendingActivity, pendingActivities } from './pending-activities.js'
import { connectClient, uniqueName } from '../temporal/shared-server.js'
import { WorkerProcess } from './worker-process.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

Runtime.install({ logger: new DefaultLogger('WARN') })

export interface WorkerProcessEnvironmentOptions {
  readonly backend?: 'docker' | 'wasm'
  /** Environment variables that the configuration of the workers reads. */
  readonly environment?: NodeJS.ProcessEnv
  /** Roles of the first worker; default: all. */
  readonly roles?: string
  /** Address of a private Temporal server; default: the shared one. */
  readonly address?: string
}

/** An activity that has failed and is retried. */
export interface RetryingActivity {
  readonly activity: string
  readonly attempt: number
  /** A code of the error table, or `timeout`. */
  readonly code: string
  readonly message: string
}

/** One task queue with worker processes that a test can kill, a scripted model and a ledger of effects. */
export class WorkerProcessEnvironment {
  readonly client: Client
  readonly ledger: Ledger
  readonly api: ScriptedMessagesApi
  readonly backend: 'docker' | 'wasm'
  readonly ptc: PtcClient
  readonly #taskQueue = uniqueName('crash')
  readonly #environment: NodeJS.ProcessEnv
  #workers: WorkerProcess[] = []

  private constructor(
    client: Client,
    ledger: Ledger,
    api: ScriptedMessagesApi,
    { backend = 'docker', environment = {}, address }: WorkerProcessEnvironmentOptions,
  ) {
    this.client = client
    this.ledger = ledger
    this.api = api
    this.backend = backend
    this.#environment = address === undefined ? environment : { TEMPORAL_ADDRESS: address, ...environment }
    this.ptc = createPtcClient({ client, taskQueue: this.#taskQueue })
  }

  /** Starts the environment with one worker; it ends with the test. */
  static async start(script: Script, options: WorkerProcessEnvironmentOptions = {}): Promise<WorkerProcessEnvironment> {
    const [client, ledger, api] = await Promise.all([
      connectClient(undefined, options.address),
      Ledger.start(),
      startScriptedMessagesApi({ script }),
    ])
    const env = new WorkerProcessEnvironment(client, ledger, api, options)
    onTestFinished(() => env.#stop())
    await env.startWorker(undefined, {}, options.roles)
    return env
  }

  /** @param workerEnvironment environment variables of this worker only */
  async startWorker(
    hostId = 'test-host',
    workerEnvironment: NodeJS.ProcessEnv = {},
    roles?: string,
  ): Promise<WorkerProcess> {
    const environment = {
      LEDGER_URL: this.ledger.url,
      ANTHROPIC_BASE_URL: this.api.url,
      ANTHROPIC_API_KEY: 'test-key',
      TEST_BACKEND: this.backend,
      ...this.#environment,
      ...workerEnvironment,
    }
    const worker = await WorkerProcess.start({
      config,
      taskQueue: this.#taskQueue,
      environment,
      hostId,
      ...(roles === undefined ? {} : { roles }),
    })
    this.#workers.push(worker)
    return worker
  }

  async killWorkers(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
  }

  /** In the order of their start. */
  get workers(): readonly WorkerProcess[] {
    return this.#workers
  }

  /** kill -9 of all workers, then starts a new one; default: on the same host. */
  async replaceWorker(hostId?: string): Promise<void> {
    await this.killWorkers()
    await this.startWorker(hostId)
  }

  startAgent(question = 'go', workflowId = uniqueName('agent')): Promise<WorkflowHandle> {
    return this.client.workflow.start('agent', { workflowId, taskQueue: this.#taskQueue, args: [{ question }] })
  }

  startProgram(source: string): Promise<WorkflowHandle> {
    const workflowId = uniqueName('program')
    return this.client.workflow.start('program', { workflowId, taskQueue: this.#taskQueue, args: [{ source }] })
  }

  /** Settles when an activity of this type runs on a worker; ignores the first `skipScheduled` scheduled ones. */
  async waitForActivity(handle: WorkflowHandle, type: string, skipScheduled: number): Promise<void> {
    const isRunningNow = async () => {
      const running = (await pendingActivities(handle, type)).filter(isRunning)
      // Compares ids: the activity may have ended meanwhile, and the next one been scheduled.
      const later = running.length === 0 ? [] : (await this.#scheduledIds(handle, type)).slice(skipScheduled)
      return running.some(({ activityId }) => later.includes(activityId))
    }
    await vi.waitUntil(isRunningNow, fastPollOptions)
  }

  /** Settles when a worker runs this attempt, or a later one, of an activity of this type. */
  async waitForAttempt(handle: WorkflowHandle, type: string, attempt: number): Promise<void> {
    const hasReached = (one: PendingActivity) => isRunning(one) && Number(one.attempt) >= attempt
    await vi.waitUntil(async () => (await pendingActivities(handle, type)).some(hasReached), pollOptions)
  }

  /** The failure of the previous attempt. */
  async lastFailure(handle: WorkflowHandle, type: string): Promise<string | null | undefined> {
    const [pending] = await pendingActivities(handle, type)
    return pending?.lastFailure?.applicationFailureInfo?.type ?? pending?.lastFailure?.message
  }

  /** Settles when the history has the final failure of an activity of this type. */
  async waitForActivityFailure(handle: WorkflowHandle, type: string): Promise<void> {
    const hasFailed = async () => {
      const { events } = await handle.fetchHistory()
      const ids = (events ?? [])
        .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === type)
        .map(({ eventId }) => String(eventId))
      const ended = (events ?? []).map(
        ({ activityTaskTimedOutEventAttributes: timedOut, activityTaskFailedEventAttributes: failed }) =>
          String((timedOut ?? failed)?.scheduledEventId),
      )
      return ids.some((id) => ended.includes(id))
    }
    await vi.waitUntil(hasFailed, pollOptions)
  }

  /** Settles when no activity of this type is open. */
  async waitForNoPendingActivity(handle: WorkflowHandle, type: string): Promise<void> {
    await vi.waitUntil(async () => (await pendingActivities(handle, type)).length === 0, pollOptions)
  }

  /** Settles when an activity of this type has missed its heartbeat timeout, and no worker runs it. */
  async waitForMissedHeartbeat(handle: WorkflowHandle, type: string): Promise<void> {
    const hasTimedOut = (one: PendingActivity) => !isRunning(one) && Number(one.attempt) > 1
    await vi.waitUntil(async () => (await pendingActivities(handle, type)).some(hasTimedOut), pollOptions)
  }

  /** Settles after this many further heartbeats of a running activity. */
  async waitForHeartbeats(handle: WorkflowHandle, type: string, times: number): Promise<void> {
    const seen = new Set<string>()
    const hasEnough = async () => {
      const [pending] = await pendingActivities(handle, type)
      if (pending?.lastHeartbeatTime) seen.add(JSON.stringify(pending.lastHeartbeatTime))
      return seen.size > times
    }
    await vi.waitUntil(hasEnough, pollOptions)
  }

  /** Activities that are being retried, with their last failures. */
  async retryingActivities(handle: WorkflowHandle): Promise<readonly RetryingActivity[]> {
    return (await pendingActivities(handle)).flatMap(({ activityType, attempt, lastFailure }) => {
      if (!lastFailure) return []
      const { message, applicationFailureInfo } = lastFailure
      const code = applicationFailureInfo?.type ?? 'timeout'
      return [{ activity: activityType?.name ?? '', attempt: attempt ?? 0, code, message: message ?? '' }]
    })
  }

  /** Settles when this worker has taken over an activity of this type. */
  async waitForTakeover(worker: WorkerProcess, handle: WorkflowHandle, type: string): Promise<void> {
    const isTakenOver = (one: PendingActivity) =>
      isRunning(one) && one.lastWorkerIdentity?.startsWith(`${worker.pid}@`) === true
    await vi.waitUntil(async () => (await pendingActivities(handle, type)).some(isTakenOver), pollOptions)
  }

  /** The number of scheduled activities of this type. */
  async scheduledCount(handle: WorkflowHandle, type: string): Promise<number> {
    return (await this.#scheduledIds(handle, type)).length
  }

  /** Ids of the activities of this type, in the order of their scheduling. */
  async #scheduledIds(handle: WorkflowHandle, type: string): Promise<unknown[]> {
    const { events } = await handle.fetchHistory()
    return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
      activity?.activityType?.name === type ? [activity.activityId] : [],
    )
  }

  /** kill -9 of the run's container. */
  async killContainer({ workflowId }: WorkflowHandle): Promise<void> {
    if ((await killContainersOf(workflowId)) === 0) throw new Error('there is no container to kill')
  }

  /** Ends code that runs until the file `/tmp/go` exists. */
  async releaseCode(handle: WorkflowHandle): Promise<void> {
    const touch = async (): Promise<boolean> => {
      const running = await runningContainersOf(handle.workflowId)
      for (const { Id } of running)
        if ((await execInContainer(Id, ['touch', '/tmp/go']).catch(() => 1)) === 0) return true
      return false
    }
    await vi.waitUntil(touch, pollOptions)
  }

  /** Id of the run's container. */
  async runningContainerId(handle: WorkflowHandle): Promise<string> {
    const [running] = await runningContainersOf(handle.workflowId)
    if (running === undefined) throw new Error('no container of the run is running')
    return running.Id
  }

  async containerCount(handle: WorkflowHandle): Promise<number> {
    return (await containersOf(handle.workflowId)).length
  }

  /** The worker that was started with the environment. */
  get firstWorker(): WorkerProcess {
    const [first] = this.#workers
    if (!first) throw new Error('there is no worker')
    return first
  }

  /** Output of all workers so far. */
  get log(): string {
    return this.#workers.map(({ log }) => log).join('\n')
  }

  /** Number of complete model replies: those that are paid. */
  get completedReplies(): number {
    return completedReplies(this.api)
  }

  async agentResult(handle: WorkflowHandle): Promise<AgentResult> {
    return (await handle.result()) as AgentResult
  }

  /** Removes the containers of a run that a dead host left behind. */
  removeContainers({ workflowId }: WorkflowHandle): Promise<void> {
    return removeContainersOf(workflowId)
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
    await Promise.all([this.ledger.close(), this.api.close(), this.client.connection.close()])
  }
}
