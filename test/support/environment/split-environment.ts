import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, WorkflowHandle } from '@temporalio/client'
import { expect, inject, onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient } from '../../../src/client/index.js'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import type { CellOutcome } from '../../../src/common/outcomes.js'
import type { Role } from '../../../src/common/names.js'
import type { Tool } from '../../../src/index.js'
import type { PtcConfig } from '../../../src/worker/config/define-config.js'
import { parseConfig, type ResolvedConfig } from '../../../src/worker/config/parse-config.js'
import { type RunningWorker, startWorker } from '../../../src/worker/index.js'
import { removeContainersOf } from './containers.js'
import { pollOptions } from '../poll-options.js'
import { connectClient, sharedServer, uniqueName } from '../temporal/shared-server.js'

interface StartedSession {
  readonly handle: WorkflowHandle
  readonly result: Promise<CellOutcome>
}

/** Programs and sessions on two workers: one for workflows, which a test starts and stops, and one for other roles. */
export class SplitEnvironment {
  readonly client: Client
  readonly #config: ResolvedConfig
  readonly #runs: WorkflowHandle[] = []

  private constructor(client: Client, config: ResolvedConfig) {
    this.client = client
    this.#config = config
  }

  static async start(options: {
    readonly tools: readonly Pick<Tool, 'name'>[]
    readonly timeouts?: PtcConfig['timeouts']
    readonly snapshots?: PtcConfig['snapshots']
    /** Roles of the other worker; default: tools and sandboxes. */
    readonly roles?: readonly Role[]
  }): Promise<SplitEnvironment> {
    const directory = await mkdtemp(join(tmpdir(), 'ptc-split-'))
    const store = { kind: 'local', directory } as const
    const client = await connectClient(await createDataConverter(store))
    const config = parseConfig(
      {
        tools: options.tools,
        model: { name: 'scripted' },
        sandbox: { backend: inject('docker') === 'available' ? 'docker' : 'wasm', wasm: { warm: 0 } },
        timeouts: { heartbeat: '5s', host: '60s', ...options.timeouts },
        ...(options.snapshots === undefined ? {} : { snapshots: options.snapshots }),
        values: { store },
        taskQueue: uniqueName('split'),
      },
      'test',
    )
    const env = new SplitEnvironment(client, config)
    const activityWorker = await env.#startWorker(options.roles ?? ['tools', 'sandbox'])
    onTestFinished(async () => {
      for (const run of env.#runs) {
        await run.terminate('the test has ended').catch(() => undefined) // most have completed
        if (inject('docker') === 'available') await removeContainersOf(run.workflowId)
      }
      await activityWorker.shutdown()
      await client.connection.close()
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    })
    return env
  }

  get taskQueue(): string {
    return this.#config.taskQueue
  }

  /** Starts a worker for workflows. It ends with the test. */
  async startWorkflowWorker(): Promise<RunningWorker> {
    const worker = await this.#startWorker(['workflow'])
    onTestFinished(() => worker.shutdown())
    return worker
  }

  async startProgram(source: string): Promise<WorkflowHandle> {
    const { taskQueue } = this.#config
    const handle = await this.client.workflow.start('program', {
      workflowId: uniqueName('program'),
      taskQueue,
      args: [{ source }],
    })
    this.#runs.push(handle)
    return handle
  }

  /** Executes code on a new session; settles when its workflow has started. */
  async startSession(source: string): Promise<StartedSession> {
    const { taskQueue } = this.#config
    const name = uniqueName('session')
    const handle = this.client.workflow.getHandle(sessionWorkflowId(taskQueue, name))
    this.#runs.push(handle)
    const { sessions } = createPtcClient({ client: this.client, taskQueue })
    const result = sessions.execute(name, source).then(({ outcome }) => outcome)
    result.catch(() => undefined) // the test may have failed before it awaits this
    const hasStarted = async () =>
      handle.describe().then(
        () => true,
        () => false,
      )
    await expect.poll(hasStarted, pollOptions).toBe(true)
    return { handle, result }
  }

  #startWorker(roles: readonly Role[]): Promise<RunningWorker> {
    const { address, namespace } = sharedServer()
    return startWorker({
      config: this.#config,
      server: { address, namespace, connectionOptions: { address } },
      roles,
      hostId: this.#config.taskQueue,
      onProgress: () => undefined,
    })
  }
}
