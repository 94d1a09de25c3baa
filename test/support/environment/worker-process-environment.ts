import { fileURLToPath } from 'node:url'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { onTestFinished } from 'vitest'
import type { AgentResult } from '../../../src/common/runs.js'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { completedReplies } from './completed-replies.js'
import { Ledger } from '../ledger.js'
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

  async #stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
    await Promise.all([this.ledger.close(), this.api.close(), this.client.connection.close()])
  }
}
