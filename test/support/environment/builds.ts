import { readFileSync } from 'node:fs'
import type { Client, WorkflowHandle } from '@temporalio/client'
import type { Worker } from '@temporalio/worker'
import { expect, onTestFinished, vi } from 'vitest'
import { createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { PtcPlugin } from '../../../src/worker/plugin/index.js'
import { workflowBundle } from '../../../src/worker/plugin/workflow-bundle.js'
import { temporaryFolder } from '../folders.js'
import { sharedServer, uniqueName } from '../temporal/shared-server.js'
import { Deferred, tool } from '../tools.js'
import { containersOf, removeContainersOf } from './containers.js'
import { clientOf, connect, createWorker } from './embedded-worker.js'
import { executionHistories } from './histories.js'
import { testConfig } from './test-config.js'

/**
 * `v1` is the installed workflow code. `incompatible` starts each run with a timer, so neither can replay a history of
 * the other. `patched` does the same with Temporal's `patched`, so it replays histories of `v1`.
 */
export type Code = 'v1' | 'incompatible' | 'patched'

const anchor = 'const data = state ?? { config: await'
const workflow = '_temporalio_workflow__WEBPACK_IMPORTED_MODULE_0__'

const additions: Readonly<Record<Code, string>> = {
  v1: '',
  incompatible: `if (!state) await (0,${workflow}.sleep)(1);\n`,
  patched: `if (!state && (0,${workflow}.patched)('deploy')) await (0,${workflow}.sleep)(1);\n`,
}

function bundleOf(code: Code): { readonly code: string } {
  const installed = readFileSync(workflowBundle().codePath, 'utf8')
  expect(installed.split(anchor)).toHaveLength(2)
  return { code: installed.replace(anchor, `${additions[code]}${anchor}`) }
}

/** One deployed build of a worker. */
export interface Build {
  readonly id: string
  /** Ends the worker; its containers stay. */
  stop(): Promise<void>
}

/** Deploys builds of a worker, side by side or one after the other, on one host and one task queue. */
export class Builds {
  readonly client: Client
  readonly ptc: PtcClient
  /** The tool `wait` returns when this is resolved. */
  readonly gate = new Deferred()
  readonly #taskQueue: string
  readonly #deploymentName = uniqueName('deployment')
  readonly #hostId = uniqueName('host')
  readonly #directory: string
  readonly #runs: WorkflowHandle[] = []

  static async start(script: Script): Promise<Builds> {
    const api = await startScriptedMessagesApi({ script })
    onTestFinished(() => api.close())
    useModel(api)
    const builds = new Builds(clientOf(await connect()), await temporaryFolder())
    onTestFinished(() => builds.#close())
    return builds
  }

  private constructor(client: Client, directory: string) {
    this.client = client
    this.#directory = directory
    this.#taskQueue = uniqueName('queue')
    this.ptc = createPtcClient({ client, taskQueue: this.#taskQueue })
  }

  /** @param isVersioned whether the worker polls as a version of a worker deployment */
  async deploy(id: string, code: Code, isVersioned: boolean): Promise<Build> {
    const plugin = new PtcPlugin({
      tools: [
        tool('build', () => id),
        tool('wait', () => this.gate.promise.then(() => null), { effect: 'idempotent', timeout: '10m' }),
      ],
      model: { name: 'scripted' },
      sandbox: { backend: 'docker' },
      ...testConfig({ timeouts: { park: '1s', host: '60s', heartbeat: '5s', shutdown: '1s' } }),
      values: { store: { kind: 'local', directory: this.#directory } },
      hostId: this.#hostId,
    })
    const connection = await connect({ plugins: [plugin] })
    const version = { deploymentName: this.#deploymentName, buildId: id }
    const worker = await createWorker({
      connection,
      taskQueue: this.#taskQueue,
      workflowBundle: bundleOf(code),
      ...(isVersioned && {
        workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' },
      }),
    })
    const ended = worker.run()
    const stop = once(() => stopWorker(worker, ended))
    onTestFinished(stop)
    return { id, stop }
  }

  /** Sets a deployed version as the version of new runs. */
  async setCurrent({ id }: Build): Promise<void> {
    const { namespace } = sharedServer()
    const deploymentName = this.#deploymentName
    const setVersion = () =>
      this.client.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId: id })
    // The server knows a version some time after its first poll.
    await expect.poll(() => setVersion().then(() => 'set', String)).toBe('set')
    const isCurrent = async () => {
      const { workerDeploymentInfo } = await this.client.workflowService.describeWorkerDeployment({
        namespace,
        deploymentName,
      })
      return workerDeploymentInfo?.routingConfig?.currentDeploymentVersion?.buildId
    }
    await expect.poll(isCurrent).toBe(id)
  }

  async startAgent(): Promise<WorkflowHandle> {
    const { workflowId } = await this.ptc.startAgent({ question: 'go' })
    return this.#track(workflowId)
  }

  async startProgram(source: string): Promise<WorkflowHandle> {
    const { workflowId } = await this.ptc.startProgram({ source })
    return this.#track(workflowId)
  }

  /** The build that completed the workflow tasks of each execution of a run. */
  async buildsOf(handle: WorkflowHandle): Promise<readonly (readonly string[])[]> {
    const chain = await executionHistories(this.client, handle)
    return chain.map(({ events }) => {
      const ids = events.flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
        task ? [task.deploymentVersion?.buildId ?? ''] : [],
      )
      return [...new Set(ids)]
    })
  }

  /** The number of failed workflow tasks of a run. */
  async failedTasks(handle: WorkflowHandle): Promise<number> {
    const chain = await executionHistories(this.client, handle)
    return chain.flatMap(({ events }) => events).filter((event) => event.workflowTaskFailedEventAttributes).length
  }

  #track(workflowId: string): WorkflowHandle {
    const handle = this.client.workflow.getHandle(workflowId)
    this.#runs.push(handle)
    return handle
  }

  async #close(): Promise<void> {
    this.gate.resolve()
    for (const run of this.#runs) {
      await run.terminate('the test has ended').catch(() => {})
      await removeContainersOf(run.workflowId)
      expect(await containersOf(run.workflowId)).toEqual([])
    }
  }
}

function useModel({ url }: ScriptedMessagesApi): void {
  vi.stubEnv('ANTHROPIC_BASE_URL', url)
  vi.stubEnv('ANTHROPIC_API_KEY', 'test-key')
  onTestFinished(() => void vi.unstubAllEnvs())
}

async function stopWorker(worker: Worker, ended: Promise<void>): Promise<void> {
  if (worker.getState() === 'RUNNING') worker.shutdown()
  await ended
}

function once(run: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => (result ??= run())
}
