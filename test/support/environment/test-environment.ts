import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerInfo } from 'dockerode'
import type { Client, WorkflowHandle, WorkflowOptions } from '@temporalio/client'
import { expect, inject, onTestFinished } from 'vitest'
import { defined } from '../../../src/common/defined.js'
import { toolLimitId } from '../../../src/common/names.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../../src/common/run/runs.js'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import type { Tool } from '../../../src/index.js'
import type { ScriptedMessagesApi } from '../../../src/testing/index.js'
import type { PtcConfig } from '../../../src/config/define-config.js'
import type { KubernetesOptions } from '../../../src/sandbox/kubernetes/options.js'
import type { StoreOption } from '../../../src/values/option.js'
import { type Backend, defaultBackend } from './backends.js'
import { containersOf, killContainersOf, removeContainersOf } from './containers.js'
import {
  executionHistories,
  expectReplays,
  type History,
  isTimerWithoutSummary,
  readHistory,
  type ScheduledActivity,
  scheduledActivities,
} from './histories.js'
import { testConfig, type TestOptions } from './test-config.js'
import { type ServiceOptions, type Services, startServices } from './environment-services.js'
import { InProcessWorkers, type InProcessWorkerOptions } from './in-process-workers.js'
import type { WorkerProcessOptions } from './worker-process.js'
import { WorkerProcesses, type WorkerProcessStart } from './worker-processes.js'
import { uniqueName } from '../temporal/shared-server.js'

/** The names of the pods of a run, those that are being removed included. */
type PodsOf = (workflowId: string) => Promise<readonly string[]>

interface CommonOptions extends ServiceOptions {
  /** Registers the function that ends the environment; default: at the end of the test. */
  readonly onCleanup?: (end: () => Promise<void>) => void
}

export interface TestEnvironmentOptions
  extends
    CommonOptions,
    TestOptions,
    Pick<
      PtcConfig,
      | 'agents'
      | 'mcp'
      | 'openapi'
      | 'skills'
      | 'credentials'
      | 'files'
      | 'model'
      | 'providers'
      | 'budget'
      | 'checkCode'
      | 'sessions'
      | 'compaction'
      | 'values'
      | 'approvals'
      | 'audit'
      | 'encryption'
      | 'redact'
      | 'dataFlow'
      | 'network'
    > {
  readonly tools?: readonly Pick<Tool, 'name'>[]
  /** Default: Docker when the machine has a daemon. */
  readonly backend?: Backend | 'kubernetes'
  /** The pods of the sandboxes, for `backend: 'kubernetes'`, and those that are left of a run. */
  readonly pods?: { readonly options: KubernetesOptions; readonly of: PodsOf }
  /** An OCI runtime of the daemon; default: its own. */
  readonly runtime?: string
  /** The workers that are started with the environment; default: one. */
  readonly initialWorkers?: readonly InProcessWorkerOptions[]
}

export interface ProcessEnvironmentOptions
  extends CommonOptions, Pick<WorkerProcessOptions, 'config' | 'preload' | 'environment'> {
  /** The value store of the configuration, for the client; default: the client stores no payloads. */
  readonly store?: StoreOption
  /** The keys of the configuration, for the client. Default: no encryption. */
  readonly encryption?: PtcConfig['encryption']
  /** The workers that are started with the environment; default: one. */
  readonly initialWorkers?: readonly WorkerProcessStart[]
}

/** An environment whose workers are processes. */
export type ProcessEnvironment = TestEnvironment<WorkerProcesses>

/**
 * Owns a task queue, a scripted Messages API, a client and workers. The workers are in this process, or are processes
 * of their own; in this process also a value folder. All tests share Temporal and Docker. Invariants: (1) every run
 * that the environment started ends with the test, (2) a clean end means that no container is left and each execution
 * replays, (3) all names are unique.
 */
export class TestEnvironment<Workers = InProcessWorkers> {
  readonly client: Client
  readonly api: ScriptedMessagesApi
  readonly ptc: PtcClient
  readonly taskQueue: string
  readonly workers: Workers
  readonly #store: StoreOption | undefined
  readonly #podsOf: PodsOf | undefined
  readonly #runs: WorkflowHandle[] = []

  private constructor({ client, api, taskQueue, store, stream }: Services, workers: Workers, podsOf?: PodsOf) {
    this.client = client
    this.api = api
    this.ptc = createPtcClient({ client, taskQueue, ...(stream && { stream }) })
    this.taskQueue = taskQueue
    this.workers = workers
    this.#store = store
    this.#podsOf = podsOf
  }

  /** Starts an environment with workers in this process. */
  static async start(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
    const { backend = defaultBackend(), runtime, initialWorkers = [{}], onCleanup = onTestFinished } = options
    const folder = await mkdtemp(join(tmpdir(), 'ptc-env-'))
    const store = options.values?.store ?? ({ kind: 'local', directory: folder } as const)
    const services = await startServices(options, store, options.encryption)
    const config = {
      tools: options.tools ?? [],
      agents: options.agents ?? [],
      mcp: options.mcp,
      openapi: options.openapi,
      skills: options.skills,
      credentials: options.credentials,
      files: options.files,
      model: { name: 'scripted', ...options.model },
      providers: options.providers,
      // A warm interpreter costs more than it saves.
      sandbox: { backend, docker: { runtime }, warm: 0, ...defined({ kubernetes: options.pods?.options }) },
      ...testConfig({ ...options, timeouts: { heartbeat: '5s', host: '60s', ...options.timeouts } }),
      budget: options.budget,
      checkCode: options.checkCode,
      sessions: options.sessions,
      compaction: options.compaction,
      approvals: options.approvals,
      audit: options.audit,
      stream: options.stream,
      encryption: options.encryption,
      redact: options.redact,
      dataFlow: options.dataFlow,
      network: options.network,
      values: { ...options.values, store },
      taskQueue: services.taskQueue,
    }
    const workers = new InProcessWorkers(config, services.api.url, options.address)
    const env = new TestEnvironment(services, workers, options.pods?.of)
    onCleanup(async () => {
      await env.#terminateRuns()
      await workers.stop()
      await env.#close()
      await rm(folder, { recursive: true, force: true, maxRetries: 20 })
    })
    for (const each of initialWorkers) await workers.start(each)
    return env
  }

  /** Starts an environment with workers that are processes. */
  static async startProcesses(options: ProcessEnvironmentOptions): Promise<ProcessEnvironment> {
    const { config, preload, initialWorkers = [{}], onCleanup = onTestFinished } = options
    const services = await startServices(options, options.store, options.encryption)
    const { taskQueue, api } = services
    const environment = {
      ...(options.address && { TEMPORAL_ADDRESS: options.address }),
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'test-key',
      ...options.environment,
    }
    const workers = new WorkerProcesses({ config, taskQueue, environment, ...(preload && { preload }) })
    const env = new TestEnvironment(services, workers)
    onCleanup(async () => {
      await workers.end()
      await env.#terminateRuns()
      await env.#close()
    })
    for (const each of initialWorkers) await workers.start(each)
    return env
  }

  startAgent(input: Partial<AgentInput> = {}, end: Partial<WorkflowOptions> = {}) {
    return this.#startWorkflow('agent', { question: 'go', ...input }, end)
  }

  startProgram(source: string, input: Partial<ProgramInput> = {}, end: Partial<WorkflowOptions> = {}) {
    return this.#startWorkflow('program', { source, ...input }, end)
  }

  /** Runs an agent to completion, and expects a clean end. */
  async runAgent(input: Partial<AgentInput> = {}): Promise<AgentResult> {
    const handle = await this.startAgent(input)
    const result = await this.agentResult(handle)
    await this.expectCleanEnd(handle)
    return result
  }

  async agentResult(handle: WorkflowHandle): Promise<AgentResult> {
    return (await handle.result()) as AgentResult
  }

  /** Runs a program to completion, and expects a clean end. */
  async runProgram(source: string, input: Partial<ProgramInput> = {}): Promise<ProgramResult> {
    const handle = await this.startProgram(source, input)
    const result = (await handle.result()) as ProgramResult
    await this.expectCleanEnd(handle)
    return result
  }

  /**
   * Expects of a completed run that no container is left, that each of its executions replays, and that the Temporal UI
   * names each timer.
   */
  async expectCleanEnd(handle: WorkflowHandle): Promise<void> {
    const left = await this.containers(handle)
    if (left.length > 0) throw new Error(`${left.length} containers are left of ${handle.workflowId}`)
    // The cluster removes a pod later than a worker asks for it.
    if (this.#podsOf) await expect.poll(() => this.#podsOf?.(handle.workflowId)).toEqual([])
    const chain = await expectReplays(this.client, handle)
    const unnamed = chain.flatMap(({ events }) => events).filter(isTimerWithoutSummary)
    if (unnamed.length > 0) throw new Error(`${unnamed.length} timers of ${handle.workflowId} have no summary`)
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
    const directory = this.#store?.kind === 'local' ? this.#store.directory : undefined
    if (directory === undefined) throw new Error('this environment has no value folder')
    return directory
  }

  history(handle = this.lastRun, runId?: string): Promise<History> {
    return readHistory(this.client, handle.workflowId, runId)
  }

  /** Containers of a run, running or not. */
  async containers(handle: WorkflowHandle): Promise<ContainerInfo[]> {
    return inject('docker') === 'available' ? containersOf(handle.workflowId) : []
  }

  /** kill -9 of a run's containers, which in `always-evict` may already be gone. */
  async killContainers({ workflowId }: WorkflowHandle): Promise<void> {
    await killContainersOf(workflowId)
  }

  /** The workflow of a session or a conversation; it ends with the test. */
  sessionHandle(name: string, workflowId = sessionWorkflowId(this.taskQueue, name)): WorkflowHandle {
    const handle = this.client.workflow.getHandle(workflowId)
    this.#runs.push(handle)
    return handle
  }

  /** The workflow that limits the calls of a tool; it ends with the test. */
  limiter(tool: string): WorkflowHandle {
    this.#runs.unshift(this.client.workflow.getHandle(toolLimitId(this.taskQueue, tool))) // not the last run
    return this.client.workflow.getHandle(toolLimitId(this.taskQueue, tool))
  }

  /** The run that was started last. */
  get lastRun(): WorkflowHandle {
    const run = this.#runs.at(-1)
    if (!run) throw new Error('no run was started')
    return run
  }

  /** The activities of the latest execution of a run in the order they were scheduled. */
  async activities(handle = this.lastRun): Promise<ScheduledActivity[]> {
    return scheduledActivities(await this.history(handle))
  }

  /** The activities of all executions of a run. */
  async chainActivities(handle = this.lastRun): Promise<ScheduledActivity[]> {
    return (await this.executionHistories(handle)).flatMap(scheduledActivities)
  }

  /** The last user message in the last model request. */
  lastUserContent(): unknown {
    return requestMessages(this.api.requests.at(-1)?.body).at(-1)?.content
  }

  async #startWorkflow(
    workflow: 'agent' | 'program',
    input: object,
    end: Partial<WorkflowOptions>,
  ): Promise<WorkflowHandle> {
    const options = { workflowId: uniqueName(workflow), taskQueue: this.taskQueue, args: [input], ...end }
    const handle = await this.client.workflow.start(workflow, options)
    this.#runs.push(handle)
    return handle
  }

  async #terminateRuns(): Promise<void> {
    for (const run of this.#runs) {
      await run.terminate('the test has ended').catch(() => undefined) // most have completed
      if (inject('docker') === 'available') await removeContainersOf(run.workflowId)
    }
  }

  async #close(): Promise<void> {
    await Promise.all([this.api.close(), this.client.connection.close()])
  }
}

export interface SentMessage {
  readonly role: string
  readonly content: unknown
}

export function requestMessages(body: unknown): readonly SentMessage[] {
  return (body as { readonly messages?: readonly SentMessage[] } | undefined)?.messages ?? []
}
