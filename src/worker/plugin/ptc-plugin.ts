import type { ClientOptions, ClientPlugin } from '@temporalio/client'
import {
  type BundleOptions,
  type BundlerPlugin,
  type NativeConnectionOptions,
  type NativeConnectionPlugin,
  type ReplayWorkerOptions,
  Runtime,
  type Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { type Role, roles } from '../../common/names.js'
import type { PtcConfig } from '../../config/define-config.js'
import { parseConfig } from '../../config/parse-config.js'
import type { WorkerHealth } from '../health/health.js'
import { hostIdPattern } from '../../platform/host-id.js'
import { EnginePlugin } from './engine-plugin.js'

/** Options of {@link PtcPlugin}: the configuration of `ptc.config.ts`, for your own worker. */
export interface PtcPluginOptions extends Omit<PtcConfig, 'taskQueue' | 'endpoints'> {
  /** Roles that this worker serves. Default: all. */
  readonly roles?: readonly Role[]
  /**
   * Identity of this sandbox host. Workers with the same identity share one Docker daemon. Default: `PTC_HOST_ID`, else
   * the machine's name.
   */
  readonly hostId?: string
}

const processOptions = z.object({
  roles: z.array(z.enum(roles)).min(1).optional(),
  hostId: z.string().regex(hostIdPattern).optional(),
})

/**
 * Adds durable-ptc to a Temporal worker, client, bundle or replayer.
 *
 * Give it to the connection of a worker, so that the watchdog thread can connect as well: `NativeConnection.connect({
 * address, plugins: [ptc] })`. Every worker on this connection then runs agents and programs of its own task queue, in
 * addition to its own workflows and activities. `new Client({ connection, plugins: [ptc] })` and `bundleWorkflowCode({
 * workflowsPath, plugins: [ptc] })` accept it, too.
 */
export class PtcPlugin implements WorkerPlugin, ClientPlugin, BundlerPlugin, NativeConnectionPlugin {
  readonly name = 'durable-ptc'
  readonly #engine: EnginePlugin

  /** @throws PtcError CONFIG_INVALID, TOOL_DUPLICATE */
  constructor(options: PtcPluginOptions) {
    const onProgress = (line: string): void => Runtime.instance().logger.info(line)
    this.#engine = new EnginePlugin({
      ...parseOptions(options),
      settings: { onProgress },
      onOpened: ({ sandboxNotice }) => sandboxNotice === undefined || onProgress(sandboxNotice),
      plugin: this,
    })
  }

  /** A method of Temporal's plugin interface. */
  configureNativeConnection(options: NativeConnectionOptions): NativeConnectionOptions {
    return this.#engine.configureNativeConnection(options)
  }

  /** A method of Temporal's plugin interface. */
  configureClient(options: Omit<ClientOptions, 'plugins'>): Omit<ClientOptions, 'plugins'> {
    return this.#engine.configureClient(options)
  }

  /** A method of Temporal's plugin interface. */
  configureBundler(options: BundleOptions): BundleOptions {
    return this.#engine.configureBundler(options)
  }

  /** A method of Temporal's plugin interface. */
  configureReplayWorker(options: ReplayWorkerOptions): ReplayWorkerOptions | Promise<ReplayWorkerOptions> {
    return this.#engine.configureReplayWorker(options)
  }

  /**
   * A method of Temporal's plugin interface.
   *
   * @throws PtcError CONFIG_INVALID, TOOL_SOURCE_FAILED, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING,
   *   ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
   */
  configureWorker(options: WorkerOptions): Promise<WorkerOptions> {
    return this.#engine.configureWorker(options)
  }

  /** A method of Temporal's plugin interface. */
  runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    return this.#engine.runWorker(worker, next)
  }

  /**
   * Whether the workers with this plugin can work now: all Temporal workers run, and the server, the sandboxes and the
   * value store answer. For a readiness probe. Never rejects.
   */
  health(): Promise<WorkerHealth> {
    return this.#engine.health()
  }

  /** Closes the resources of workers that never ran. A running worker closes its own at its end. Idempotent. */
  close(): Promise<void> {
    return this.#engine.close()
  }
}

function parseOptions({ roles, hostId, ...config }: PtcPluginOptions) {
  if ('taskQueue' in config) {
    throw new PtcError('CONFIG_INVALID', 'the options of PtcPlugin have taskQueue', {
      hint: 'The plugin serves the task queue of its worker.',
    })
  }
  const parsed = processOptions.safeParse({ roles, hostId })
  if (!parsed.success) {
    throw new PtcError('CONFIG_INVALID', `the options of PtcPlugin are not valid:\n${z.prettifyError(parsed.error)}`)
  }
  return { config: parseConfig(config, 'the configuration of PtcPlugin'), ...parsed.data }
}
