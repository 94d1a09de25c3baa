import type { ClientConnectConfig } from '@temporalio/envconfig'
import { NativeConnection, Worker, type WorkerDeploymentOptions } from '@temporalio/worker'
import { type Role, roles as allRoles } from '../common/names.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { ResolvedConfig } from '../config/parse-config.js'
import type { WorkerHealth } from './health/health.js'
import { EnginePlugin } from './plugin/engine-plugin.js'
import type { OpenedResources, ProcessSettings } from './resources/open-resources.js'
import { causeOfFailure } from './runtime.js'

/** The version of a worker in a Temporal worker deployment. */
export type WorkerVersion = WorkerDeploymentOptions['version']

/** The connection of a worker to a Temporal server. */
interface ConnectConfig {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** Options for `NativeConnection.connect`: address, TLS settings and API key. */
  readonly connectionOptions: ClientConnectConfig['connectionOptions']
}

export interface StartWorkerOptions extends ProcessSettings {
  readonly config: ResolvedConfig
  readonly server: ConnectConfig
  /** Default: every role. */
  readonly roles?: readonly Role[]
  /** Default: {@link defaultHostId}. */
  readonly hostId?: string
  /** Pins runs to this version. Default: no versioning. */
  readonly version?: WorkerVersion | undefined
  /** Loads the SDK of the model before the first turn, for a process that lives long. Default false. */
  readonly preloadsModel?: boolean
}

/** A worker process that polls its task queues. */
export interface RunningWorker {
  /** The chosen sandbox backend, for the user; undefined without role `sandbox`. */
  readonly sandboxNotice: string | undefined
  /** Resolves when the worker has ended; rejects when it failed. */
  readonly ended: Promise<void>
  /** Whether the worker can work now. Never rejects. */
  health(): Promise<WorkerHealth>
  /** Stops polling, closes sessions, and ends. Idempotent. */
  shutdown(): Promise<void>
}

/**
 * Starts a worker process: Temporal's worker with this package's plugin, as a user embeds it.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, CONFIG_INVALID,
 *   ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
 */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  const { config, server, roles = allRoles, hostId, version, preloadsModel = false, ...settings } = options
  let resources: OpenedResources | undefined
  const onOpened = (opened: OpenedResources): void => void (resources = opened)
  const plugin = new EnginePlugin({ config, roles, hostId, settings, onOpened })
  const connection = await connect(server, plugin)
  const { namespace } = server
  const temporalWorker = await Worker.create({
    connection,
    namespace,
    taskQueue: config.taskQueue,
    ...(version && { workerDeploymentOptions: pinned(version) }),
  }).catch(async (thrown: unknown) => {
    await plugin.close()
    await connection.close()
    throw thrown
  })
  const ended = runAndClose(temporalWorker, connection)
  // Marks the rejection as handled; `ended` still rejects.
  ended.catch(() => undefined)
  const worker: RunningWorker = {
    sandboxNotice: resources?.sandboxNotice,
    ended,
    health: () => plugin.health(),
    async shutdown() {
      if (temporalWorker.getState() === 'RUNNING') temporalWorker.shutdown()
      await ended.catch(() => undefined)
    },
  }
  // The workers already poll: loading these modules takes a fifth of the start.
  if (preloadsModel && roles.includes('model')) {
    await loadOrShutDown(worker, () => resources?.providers.load(config.runConfig.model.provider))
  }
  return worker
}

function pinned(version: WorkerVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' }
}

async function runAndClose(worker: Worker, connection: NativeConnection): Promise<void> {
  try {
    await worker.run()
  } catch (thrown) {
    // A worker that failed may still use the connection. Its failure is the cause to report.
    await connection.close().catch(() => undefined)
    throw causeOfFailure(thrown)
  }
  await connection.close()
}

async function loadOrShutDown(worker: RunningWorker, load: () => Promise<void> | undefined): Promise<void> {
  try {
    await load()
  } catch (thrown) {
    await worker.shutdown()
    throw thrown
  }
}

async function connect({ address, connectionOptions }: ConnectConfig, plugin: EnginePlugin): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect({ ...connectionOptions, plugins: [plugin] })
  } catch (cause) {
    throw new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(cause)}`, {
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
      cause,
    })
  }
}
