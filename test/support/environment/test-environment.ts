import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerInfo } from 'dockerode'
import type { Client, WorkflowHandle, WorkflowOptions } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import { inject, onTestFinished } from 'vitest'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../../src/common/runs.js'
import { createDataConverter, createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import type { Tool } from '../../../src/index.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import type { Role } from '../../../src/common/names.js'
import { createRegistry } from '../../../src/tools/registry.js'
import type { PtcConfig } from '../../../src/worker/config/define-config.js'
import { parseConfig, type ResolvedConfig } from '../../../src/worker/config/parse-config.js'
import { installRuntime, type RunningWorker, startWorker } from '../../../src/worker/index.js'
import { containersOf, killContainersOf, removeContainersOf } from './containers.js'
import { executionHistories, expectReplays, type History, readHistory } from './histories.js'
import { recordHistoriesIfRequested } from './record-history.js'
import { noModel } from '../script.js'
import { connectClient, sharedServer, uniqueName } from '../temporal/shared-server.js'

installRuntime('ERROR', () => undefined)

export interface TestEnvironmentOptions extends Pick<
  PtcConfig,
  'model' | 'limits' | 'timeouts' | 'sessions' | 'snapshots' | 'values'
> {
  readonly tools?: readonly Pick<Tool, 'name'>[]
  /** Default: none, for programs. */
  readonly script?: Script
  /** Size of the scripted model's context window, in tokens. */
  readonly contextTokens?: number
  /** Default: Docker where there is a daemon. */
  readonly backend?: 'docker' | 'wasm'
  /** An OCI runtime of the daemon; default: its own. */
  readonly runtime?: string
  /** Registers the function that ends the environment; default: at the end of the test. */
  readonly onCleanup?: (end: () => Promise<void>) => void
}

/** One activity of a finished run, as the Temporal UI shows it. */
export interface ScheduledActivity {
  readonly type: string
  readonly id: string
  readonly summary: string | undefined
}

/**
 * Owns a task queue, a value folder, a scripted Messages API, a client and workers in this process. All tests share
 * Temporal and Docker. Invariants: (1) every run ends with the test, (2) a clean end means that no container is left
 * and each execution replays, (3) all names are unique.
 */
export class TestEnvironment {
  readonly client: Client
  readonly api: ScriptedMessagesApi
  readonly #config: ResolvedConfig
  readonly #workers: RunningWorker[] = []

  private constructor(client: Client, api: ScriptedMessagesApi, config: ResolvedConfig) {
    this.client = client
    this.api = api
    this.#config = config
  }

  /** Starts an environment with one worker. */
  static async start(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
    const {
      tools = [],
      script = noModel,
      contextTokens = 200_000,
      backend = defaultBackend(),
      runtime,
      model,
      limits = {},
      timeouts,
      sessions,
      snapshots,
    } = options
    const taskQueue = uniqueName('env')
    const folder = await mkdtemp(join(tmpdir(), 'ptc-env-'))
    const values = {
      ...options.values,
      store: options.values?.store ?? ({ kind: 'local', directory: folder } as const),
    }
    const dataConverter = await createDataConverter(values.store)
    const [client, api] = await Promise.all([
      connectClient(dataConverter),
      startScriptedMessagesApi({ script, contextTokens }),
    ])
    process.env['ANTHROPIC_BASE_URL'] = api.url
    process.env['ANTHROPIC_API_KEY'] = 'test-key'
    const config = parseConfig(
      {
        tools,
        model: { name: 'scripted', ...model },
        // A warm interpreter would cost a test more time than it saves.
        sandbox: { backend, docker: { runtime }, wasm: { warm: 0 } },
        limits,
        timeouts: { heartbeat: '5s', host: '60s', ...timeouts },
        sessions,
        snapshots,
        values,
        taskQueue,
      },
      'test',
    )
    const env = new TestEnvironment(client, api, config)
    const onCleanup = options.onCleanup ?? onTestFinished
    onCleanup(async () => {
      await env.#terminateRuns()
      await env.stopWorkers()
      await Promise.all([api.close(), client.connection.close()])
      await rm(folder, { recursive: true, force: true, maxRetries: 20 })
    })
    await env.startWorker()
    return env
  }

  readonly #hostId = `test-${randomUUID()}`

  /** @param tools of this worker, instead of those of the environment */
  async startWorker(tools?: readonly Tool[], roles?: readonly Role[]): Promise<void> {
    const { address, namespace } = sharedServer()
    const server = { address, namespace, connectionOptions: { address } }
    const onProgress = (): void => undefined
    const config = tools ? withTools(this.#config, tools) : this.#config
    const hostId = this.#hostId
    this.#workers.push(await startWorker({ config, server, hostId, onProgress, ...(roles && { roles }) }))
  }

  /** Shuts all workers down gracefully, as in a deployment. */
  async stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.shutdown()))
  }

  readonly #runs: WorkflowHandle[] = []

  startAgent(input: Partial<AgentInput> = {}, end: Partial<WorkflowOptions> = {}) {
    return this.#startWorkflow('agent', { question: 'go', ...input }, end)
  }

  startProgram(source: string, input: Partial<ProgramInput> = {}, end: Partial<WorkflowOptions> = {}) {
    return this.#startWorkflow('program', { source, ...input }, end)
  }

  /** Runs an agent to completion, and expects a clean end. */
  async runAgent(input: Partial<AgentInput> = {}): Promise<AgentResult> {
    const handle = await this.startAgent(input)
    const result = (await handle.result()) as AgentResult
    await this.expectCleanEnd(handle)
    return result
  }

  /** Runs a program to completion, and expects a clean end. */
  async runProgram(source: string, input: Partial<ProgramInput> = {}): Promise<ProgramResult> {
    const handle = await this.startProgram(source, input)
    const result = (await handle.result()) as ProgramResult
    await this.expectCleanEnd(handle)
    return result
  }

  /** Expects of a completed run that no container is left, and that each of its executions replays. */
  async expectCleanEnd(handle: WorkflowHandle): Promise<void> {
    const left = await this.containers(handle)
    if (left.length > 0) throw new Error(`${left.length} containers are left of ${handle.workflowId}`)
    recordHistoriesIfRequested(await expectReplays(this.client, handle))
  }

  /** The histories of a continue-as-new chain, in order. */
  executionHistories(handle = this.lastRun): Promise<History[]> {
    return executionHistories(this.client, handle)
  }

  /** Bytes of the last run's history. */
  async historyBytes(): Promise<number> {
    return (await this.lastRun.describe()).historySize ?? 0
  }

  /** The folder of the value store. */
  get valuesDirectory(): string {
    const { store } = this.#config.values
    if (store.kind !== 'local') throw new Error('this environment has no value folder')
    return store.directory
  }

  history(handle = this.lastRun, runId?: string): Promise<History> {
    return readHistory(this.client, handle.workflowId, runId)
  }

  /** Containers of a run, running or not. */
  async containers(handle: WorkflowHandle): Promise<ContainerInfo[]> {
    if (inject('docker') !== 'available') return []
    return containersOf(handle.workflowId)
  }

  /** kill -9 of a run's containers; in `always-evict` they may be gone already. */
  async killContainers({ workflowId }: WorkflowHandle): Promise<void> {
    await killContainersOf(workflowId)
  }

  get ptc(): PtcClient {
    return createPtcClient({ client: this.client, taskQueue: this.#config.taskQueue })
  }

  /** The workflow of a session; it ends with the test. */
  sessionHandle(name: string): WorkflowHandle {
    const handle = this.client.workflow.getHandle(sessionWorkflowId(this.#config.taskQueue, name))
    this.#runs.push(handle)
    return handle
  }

  /** The run that was started last. */
  get lastRun(): WorkflowHandle {
    const runProgram = this.#runs.at(-1)
    if (!runProgram) throw new Error('no run was started')
    return runProgram
  }

  /** The activities of a run in the order they were scheduled. */
  async activities(handle = this.lastRun): Promise<ScheduledActivity[]> {
    const { events } = await this.history(handle)
    return events.flatMap(({ activityTaskScheduledEventAttributes: activity, userMetadata }) => {
      if (!activity) return []
      const summary = userMetadata?.summary
      return {
        type: activity.activityType?.name ?? '',
        id: activity.activityId ?? '',
        summary: summary ? defaultPayloadConverter.fromPayload<string>(summary) : undefined,
      }
    })
  }

  /** The content of the last user message in the last model request. */
  lastUserContent(): unknown {
    return requestMessages(this.api.requests.at(-1)?.body).at(-1)?.content
  }

  async #startWorkflow(
    workflow: 'agent' | 'program',
    input: object,
    end: Partial<WorkflowOptions>,
  ): Promise<WorkflowHandle> {
    const { taskQueue } = this.#config
    const options = { workflowId: uniqueName(workflow), taskQueue, args: [input], ...end }
    const handle = await this.client.workflow.start(workflow, options)
    this.#runs.push(handle)
    return handle
  }

  async #terminateRuns(): Promise<void> {
    for (const runProgram of this.#runs) {
      await runProgram.terminate('the test has ended').catch(() => undefined) // most have completed
      if (inject('docker') === 'available') await removeContainersOf(runProgram.workflowId)
    }
  }
}

export interface SentMessage {
  readonly role: string
  readonly content: unknown
}

/** The messages of a request to the model. */
export function requestMessages(body: unknown): readonly SentMessage[] {
  return (body as { readonly messages?: readonly SentMessage[] } | undefined)?.messages ?? []
}

function withTools(config: ResolvedConfig, tools: readonly Tool[]): ResolvedConfig {
  const registry = createRegistry(tools)
  return { ...config, registry, runConfig: { ...config.runConfig, tools: registry.toolConfigs() } }
}

function defaultBackend(): 'docker' | 'wasm' {
  return inject('docker') === 'available' ? 'docker' : 'wasm'
}
