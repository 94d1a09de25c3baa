import Dockerode from 'dockerode'
import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import type { AgentResult } from '../../src/common/runs.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../src/testing/index.js'
import { exitCodeIn } from './exit-code-in.js'
import { Ledger } from './ledger.js'
import { connectClient, uniqueName } from './temporal.js'
import { WorkerProcess } from './worker-process.js'
import { replay } from './replay.js'

const config = fileURLToPath(new URL('../fixtures/ledger.config.ts', import.meta.url))
const workflowBundle = { codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)) }

Runtime.install({ logger: new DefaultLogger('WARN') })

export interface SceneOptions {
  readonly backend?: 'docker' | 'wasm'
  /** Read by the configuration of the workers. */
  readonly environment?: NodeJS.ProcessEnv
}

/** A run to be disturbed: a model that is scripted, a world that counts, workers that can be killed. */
export class CrashScene {
  readonly client: Client
  readonly ledger: Ledger
  readonly api: ScriptedMessagesApi
  readonly backend: 'docker' | 'wasm'
  readonly #taskQueue = uniqueName('crash')
  readonly #environment: NodeJS.ProcessEnv
  #workers: WorkerProcess[] = []

  private constructor(
    client: Client,
    ledger: Ledger,
    api: ScriptedMessagesApi,
    { backend = 'docker', environment = {} }: SceneOptions,
  ) {
    this.client = client
    this.ledger = ledger
    this.api = api
    this.backend = backend
    this.#environment = environment
  }

  /** Everything but the run; all of it ends with the test. */
  static async begin(script: Script, options: SceneOptions = {}): Promise<CrashScene> {
    const [client, ledger, api] = await Promise.all([
      connectClient(),
      Ledger.start(),
      startScriptedMessagesApi({ script }),
    ])
    const scene = new CrashScene(client, ledger, api, options)
    onTestFinished(() => scene.#end())
    await scene.startWorker()
    return scene
  }

  async startWorker(hostId = 'test-host'): Promise<WorkerProcess> {
    const environment = {
      LEDGER_URL: this.ledger.url,
      ANTHROPIC_BASE_URL: this.api.url,
      ANTHROPIC_API_KEY: 'test-key',
      TEST_BACKEND: this.backend,
      ...this.#environment,
    }
    const worker = await WorkerProcess.start({ config, taskQueue: this.#taskQueue, environment, hostId })
    this.#workers.push(worker)
    return worker
  }

  /** kill -9 of whatever works, then a new worker: on the same host unless said otherwise. */
  async replaceWorker(hostId?: string): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
    await this.startWorker(hostId)
  }

  startAgent(question = 'go'): Promise<WorkflowHandle> {
    const workflowId = uniqueName('agent')
    return this.client.workflow.start('agent', { workflowId, taskQueue: this.#taskQueue, args: [{ question }] })
  }

  /** Settles when an activity with this summary is running on a worker. */
  async activityRuns(handle: WorkflowHandle, type: string, afterResults: number): Promise<void> {
    for (;;) {
      const { raw } = await handle.describe()
      const running = raw.pendingActivities?.some(
        ({ activityType, state }) => activityType?.name === type && Number(state) === started,
      )
      if (running && (await this.count(handle, type)) > afterResults) return
    }
  }

  /** How often an activity of this type was scheduled. */
  async count(handle: WorkflowHandle, type: string): Promise<number> {
    const { events } = await handle.fetchHistory()
    return (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === type)
      .length
  }

  /** kill -9 of the run's container, from outside. */
  async killContainer(handle: WorkflowHandle): Promise<void> {
    const [container] = await this.#containers(handle)
    if (!container) throw new Error('there is no container to kill')
    await this.#docker.getContainer(container.Id).kill()
  }

  /** For code that runs until there is a file `/tmp/go`. */
  async letGoOn(handle: WorkflowHandle): Promise<void> {
    const touch = async (): Promise<boolean> => {
      const running = (await this.#containers(handle)).filter(({ State }) => State === 'running')
      for (const { Id } of running) if ((await exitCodeIn(Id, ['touch', '/tmp/go']).catch(() => 1)) === 0) return true
      return false
    }
    await expect.poll(touch).toBe(true)
  }

  async containersLeft(handle: WorkflowHandle): Promise<number> {
    return (await this.#containers(handle)).length
  }

  /** Replies the model gave in full: what was paid for. */
  get answeredTurns(): number {
    return this.api.requests.filter(({ outcome, path }) => outcome === 'answered' && path === '/v1/messages').length
  }

  /** The history replays on the workflow code of today. */
  async replays(handle: WorkflowHandle): Promise<void> {
    await replay({ workflowBundle }, await handle.fetchHistory(), handle.workflowId)
  }

  async result(handle: WorkflowHandle): Promise<AgentResult> {
    return (await handle.result()) as AgentResult
  }

  readonly #docker = new Dockerode()

  /** What a dead host left behind, for the end of a test. */
  async removeContainers(handle: WorkflowHandle): Promise<void> {
    for (const { Id } of await this.#containers(handle)) await this.#docker.getContainer(Id).remove({ force: true })
  }

  #containers(handle: WorkflowHandle) {
    return this.#docker.listContainers({ all: true, filters: { label: [`ptc.workflow=${handle.workflowId}`] } })
  }

  async #end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
    await Promise.all([this.ledger.close(), this.api.close(), this.client.connection.close()])
  }
}

/** PENDING_ACTIVITY_STATE_STARTED */
const started = 2
