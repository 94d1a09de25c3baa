import type { ClientOptions, ClientPlugin } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { Runtime } from '@temporalio/worker'
import type {
  BundleOptions,
  BundlerPlugin,
  NativeConnectionOptions,
  NativeConnectionPlugin,
  ReplayWorkerOptions,
  Worker,
  WorkerOptions,
  WorkerPlugin,
} from '@temporalio/worker'
import { toFailure } from '../../activities/failures.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { type Role, roles as allRoles } from '../../common/names.js'
import { extendDataConverter } from '../../values/data-converter.js'
import { openStore } from '../../values/open-store.js'
import type { ValueStore } from '../../values/store.js'
import { makeMessagesWellFormed } from '../../values/well-formed-messages.js'
import type { TracingPlugin } from '../../config/define-config.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { joinHealth, type WorkerHealth } from '../health/health.js'
import { watchWorkflowThreads } from '../watchdog/workflow-threads.js'
import { defaultHostId } from '../../platform/host-id.js'
import type { OpenedResources, ProcessSettings } from '../resources/open-resources.js'
import { bundleWorkflows } from './bundle-workflows.js'
import { flushTraces, startTracing, withoutContent } from './tracing.js'
import { WorkerGroup } from './worker-group.js'
import { bundleKind, encodedFailuresPath, lenientFailuresPath, workflowBundle } from './workflow-bundle.js'

interface EnginePluginOptions {
  readonly config: ResolvedConfig
  /** Default: every role. */
  readonly roles?: readonly Role[] | undefined
  /** Default: {@link defaultHostId}. */
  readonly hostId?: string | undefined
  readonly settings: ProcessSettings
  /** The plugin object that Temporal has. Default: this one. */
  readonly plugin?: WorkerPlugin
  /** Called when a worker has opened its resources. */
  readonly onOpened: (resources: OpenedResources) => void
}

/**
 * Adds durable-ptc to Temporal's own objects: activities, workflows and shared resources to a worker, the value store
 * and the encryption to the data converter of workers, clients and replayers, the engine's workflows to a bundle.
 */
export class EnginePlugin implements WorkerPlugin, ClientPlugin, BundlerPlugin, NativeConnectionPlugin {
  readonly name = 'durable-ptc'
  readonly #options: EnginePluginOptions
  /** Groups by namespace and task queue of the user's worker. */
  readonly #groups = new Map<string, WorkerGroup>()
  /** Namespace and task queue of each worker that a group creates. */
  readonly #roleWorkers = new Set<string>()
  #connectionOptions: NativeConnectionOptions | undefined
  #store: Promise<ValueStore> | undefined

  constructor(options: EnginePluginOptions) {
    makeMessagesWellFormed()
    watchWorkflowThreads()
    this.#options = options
  }

  configureNativeConnection(options: NativeConnectionOptions): NativeConnectionOptions {
    this.#connectionOptions = options
    return options
  }

  configureClient(options: Omit<ClientOptions, 'plugins'>): Omit<ClientOptions, 'plugins'> {
    const stored = { ...options, dataConverter: this.#extendConverter(options.dataConverter) }
    return this.#tracing?.configureClient?.(stored) ?? stored
  }

  configureBundler(options: BundleOptions): BundleOptions {
    const traced = this.#tracing?.configureBundler?.(options) ?? options
    const bundled = bundleWorkflows(traced, this.#tracing !== undefined)
    return { ...bundled, failureConverterPath: bundled.failureConverterPath ?? this.#failureConverterPath }
  }

  configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions | Promise<ReplayWorkerOptions> {
    const hasWorkflows = options.workflowsPath !== undefined || options.workflowBundle !== undefined
    const dataConverter = this.#extendConverter(options.dataConverter)
    const kind = bundleKind({ isTraced: this.#tracing !== undefined, isEncrypted: this.#isEncrypted })
    const bundle = !hasWorkflows && { workflowBundle: workflowBundle(kind) }
    const stored = { ...options, ...bundle, dataConverter }
    return this.#tracing?.configureReplayWorker?.(stored) ?? stored
  }

  /**
   * @throws PtcError CONFIG_INVALID, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, ENCRYPTION_KEY_UNAVAILABLE,
   * DECRYPTION_FAILED
   */
  async configureWorker(requested: WorkerOptions): Promise<WorkerOptions> {
    // A plugin of the connection also gets the workers that a group creates.
    if (this.#roleWorkers.has(keyOf(requested))) return requested
    const options = await this.#addTracing(requested)
    const { connection } = options
    if (connection === undefined) {
      throw new PtcError('CONFIG_INVALID', 'the worker has no connection', {
        hint: 'Give it one: `connection: await NativeConnection.connect({ plugins: [ptc] })`.',
      })
    }
    const { config, settings, roles = allRoles, hostId = defaultHostId() } = this.#options
    const group = await WorkerGroup.open(options, {
      config,
      settings,
      roles: new Set(roles),
      hostId,
      connection,
      connectionOptions: this.#connectionOptions,
      dataConverter: this.#workerConverter(options.dataConverter),
      // Leaves out the plugin for traces: its interceptors are in the options, which the group copies.
      plugins: this.#laterPlugins(options),
    })
    const key = keyOf(group.workerOptions)
    // A worker that was created earlier and never ran, because its creation failed later.
    const replaced = this.#groups.get(key)
    if (replaced?.isRunning === false) await replaced.close()
    for (const taskQueue of group.roleQueues) this.#roleWorkers.add(keyOf({ ...options, taskQueue }))
    this.#groups.set(key, group)
    this.#options.onOpened(group.resources)
    return group.workerOptions
  }

  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const key = keyOf(worker.options)
    const group = this.#groups.get(key)
    if (!group) return next(worker)
    try {
      await group.run(worker, () => next(worker))
    } finally {
      this.#groups.delete(key)
      if (this.#groups.size === 0) await this.#closeStore()
      // The process may end after this.
      const problem = await flushTraces(this.#tracing)
      if (problem !== undefined) Runtime.instance().logger.warn(problem)
    }
  }

  /** Whether the workers with this plugin can work now. Never rejects. */
  async health(): Promise<WorkerHealth> {
    return joinHealth(await Promise.all([...this.#groups.values()].map((group) => group.health())))
  }

  /** Closes the resources of workers that never ran. A running worker closes its own at its end. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].filter((group) => !group.isRunning).map((group) => group.close()))
    await this.#closeStore()
  }

  /** The plugins that have not received these options. Temporal calls the plugins of the connection itself. */
  #laterPlugins({ plugins = [], connection }: WorkerOptions): WorkerPlugin[] {
    const ofConnection: readonly unknown[] = connection?.plugins ?? []
    const { plugin = this } = this.#options
    return plugins.slice(plugins.indexOf(plugin) + 1).filter((plugin) => !ofConnection.includes(plugin))
  }

  async #addTracing(requested: WorkerOptions): Promise<WorkerOptions> {
    if (!this.#tracing) return requested
    await startTracing()
    return withoutContent((await this.#tracing.configureWorker?.(requested)) ?? requested)
  }

  get #tracing(): TracingPlugin | undefined {
    return this.#options.config.tracing
  }

  get #isEncrypted(): boolean {
    return this.#options.config.encryption !== undefined
  }

  get #failureConverterPath(): string {
    return this.#isEncrypted ? encodedFailuresPath : lenientFailuresPath
  }

  /** Workers and their workflows write failures. All other processes only read them. */
  #workerConverter(dataConverter: DataConverter | undefined): DataConverter {
    const failureConverterPath = this.#failureConverterPath
    return this.#extendConverter({ failureConverterPath, ...dataConverter }, toFailure)
  }

  /** @param toError a worker reports a missing key as a failure with its code as type */
  #extendConverter(dataConverter: DataConverter | undefined, toError?: (thrown: unknown) => unknown): DataConverter {
    const { values, encryption: keys } = this.#options.config
    const open = () => (this.#store ??= openStore(values.store, keys))
    return extendDataConverter(dataConverter, { open, keys, ...defined({ toError }) })
  }

  async #closeStore(): Promise<void> {
    const store = await this.#store
    this.#store = undefined
    await store?.close()
  }
}

function keyOf({ namespace = 'default', taskQueue }: Pick<WorkerOptions, 'namespace' | 'taskQueue'>): string {
  return JSON.stringify([namespace, taskQueue])
}
