import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client, WorkflowHandle } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'
import { expect, inject, onTestFinished } from 'vitest'
import { createDataConverter } from '../../src/client/index.js'
import type { Role } from '../../src/common/names.js'
import type { Tool } from '../../src/index.js'
import type { PtcConfig } from '../../src/worker/config/define-config.js'
import { parseConfig, type ResolvedConfig } from '../../src/worker/config/parse-config.js'
import { type RunningWorker, startWorker } from '../../src/worker/index.js'
import { workflowBundle } from '../../src/worker/workflow-bundle.js'
import { removeContainersOf } from './containers.js'
import { chainOf } from './histories.js'
import { patient } from './patient.js'
import { replay } from './replay.js'
import { connectClient, testTemporal, uniqueName } from './temporal.js'

/** Programs on two workers: one for workflows, which the test starts and stops, and one for everything else. */
export class SplitStack {
  readonly client: Client
  readonly #config: ResolvedConfig
  readonly #runs: WorkflowHandle[] = []

  private constructor(client: Client, config: ResolvedConfig) {
    this.client = client
    this.#config = config
  }

  static async start(options: {
    readonly tools: readonly Pick<Tool, 'name'>[]
    readonly timings: PtcConfig['timings']
    /** What the other worker does; default: tools and sandboxes. */
    readonly roles?: readonly Role[]
  }): Promise<SplitStack> {
    const directory = await mkdtemp(join(tmpdir(), 'ptc-split-'))
    const store = { kind: 'local', directory } as const
    const client = await connectClient(await createDataConverter(store))
    const config = parseConfig(
      {
        tools: options.tools,
        model: { name: 'scripted' },
        sandbox: { backend: inject('docker') === 'available' ? 'docker' : 'wasm', wasm: { warm: 0 } },
        timings: { heartbeat: '5s', host: '60s', ...options.timings },
        values: { store },
        taskQueue: uniqueName('split'),
      },
      'test',
    )
    const stack = new SplitStack(client, config)
    const doer = await stack.#startWorker(options.roles ?? ['tools', 'sandbox'])
    onTestFinished(async () => {
      for (const run of stack.#runs) {
        await run.terminate('the test has ended').catch(() => undefined) // most have completed
        if (inject('docker') === 'available') await removeContainersOf(run.workflowId)
      }
      await doer.shutdown()
      await client.connection.close()
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    })
    return stack
  }

  get taskQueue(): string {
    return this.#config.taskQueue
  }

  /** Starts a worker for workflows. It ends with the test. */
  async startDecider(): Promise<RunningWorker> {
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

  async hasEvent(handle: WorkflowHandle, attributes: keyof temporal.api.history.v1.IHistoryEvent): Promise<void> {
    const found = async () => ((await handle.fetchHistory()).events ?? []).some((event) => event[attributes] != null)
    await expect.poll(found, patient).toBe(true)
  }

  /** Fails when a history of the run does not replay. */
  async replays(handle: WorkflowHandle): Promise<void> {
    const { loadedDataConverter: dataConverter } = this.client.options
    for (const history of await chainOf(this.client, handle)) {
      await replay({ workflowBundle: workflowBundle(), dataConverter }, history, handle.workflowId)
    }
  }

  #startWorker(roles: readonly Role[]): Promise<RunningWorker> {
    const { address, namespace } = testTemporal()
    return startWorker({
      config: this.#config,
      server: { address, namespace, connectionOptions: { address } },
      roles,
      hostId: this.#config.taskQueue,
      onProgress: () => undefined,
    })
  }
}
