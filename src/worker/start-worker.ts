import { NativeConnection, type Worker } from '@temporalio/worker'
import { DisposableStack } from '../common/disposable-stack.js'
import { type Role, roles as allRoles } from '../common/names.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { AnthropicProviderOptions } from '../models/anthropic/options.js'
import { createLazyAnthropicProvider, loadAnthropicSdk } from '../models/anthropic/lazy-provider.js'
import type { ModelProvider } from '../models/provider.js'
import { withScriptedModel } from '../models/scripted-model.js'
import { SessionHost } from '../sandbox/session/session-host.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { ResolvedConfig } from './config/parse-config.js'
import type { ConnectConfig } from './connect-config.js'
import { defaultHostId } from './host-id.js'
import { isWorkflowRunning, sandboxOwner } from './sandbox-owner.js'
import { startReaper } from './reaper.js'
import { createBackends } from './create-backends.js'
import { startTakeover } from './takeover/takeover.js'
import { EventLoopWatchdog } from './watchdog/event-loop-watchdog.js'
import { createValues } from './create-values.js'
import { createTemporalWorkers } from './temporal-workers.js'

export interface StartWorkerOptions {
  readonly config: ResolvedConfig
  readonly server: ConnectConfig
  /** Default: every role. */
  readonly roles?: readonly Role[]
  /** Default: {@link defaultHostId}. */
  readonly hostId?: string
  /** Size of the pool of idle containers when the configuration sets none (`sandbox.docker.warm`). Default 0. */
  readonly warm?: number
  /**
   * Where the watchdog thread reports a blocked event loop while it is blocked: the path of a file, or `false` for
   * nowhere. Default: stderr.
   */
  readonly stallLog?: string | false | undefined
  /** Where the model is, and its key. Default: from the environment variables of the provider. */
  readonly modelApi?: Pick<AnthropicProviderOptions, 'apiKey' | 'baseURL'> | undefined
  /** Address of a local Messages API that replies to requests for the scripted model. Default: there is none. */
  readonly scriptedModelUrl?: string | undefined
  /** Loads the SDK of the model before the first turn: for a process that lives long. Default false. */
  readonly preloadsModel?: boolean
  /** Receives a line for the user about each slow step. */
  readonly onProgress: (line: string) => void
}

/** A worker process that polls its task queues. */
export interface RunningWorker {
  /** The chosen sandbox backend, for the user; undefined without role `sandbox`. */
  readonly sandboxNotice: string | undefined
  /** Resolves when the worker has ended; rejects when it failed. */
  readonly ended: Promise<void>
  /** Stops polling, closes sessions, ends. Idempotent. */
  shutdown(): Promise<void>
}

/**
 * Creates the Temporal workers of one process and everything they need, and starts them.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, CONFIG_INVALID
 */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  const { config, server, roles = allRoles, hostId = defaultHostId(), stallLog, preloadsModel = false } = options
  const { namespace } = server
  const { registry } = config
  const stack = new DisposableStack()
  try {
    const connection = await connect(server)
    stack.defer(() => connection.close())
    const values = await createValues(config)
    stack.defer(() => values.close())
    const provider = createProvider(options)
    stack.defer(() => provider.close())
    const sandboxes = roles.includes('sandbox') ? await openSandboxes(options, connection) : undefined
    if (sandboxes) stack.defer(() => sandboxes.host.shutdown())
    const hasTools = roles.includes('tools') && registry.names.length > 0
    const dataConverter = { externalStorage: payloadStorage(values.valueStore) }
    const watchdog = hasTools
      ? new EventLoopWatchdog({ server, connection, dataConverter, registry, log: stallLog })
      : undefined
    if (watchdog) stack.defer(() => watchdog.close())
    const host = sandboxes?.host
    const group = { address: server.address, taskQueue: config.taskQueue, hostId }
    const takeover = await startTakeover({ connection, namespace, group })
    if (takeover) stack.defer(() => takeover.close())
    const temporal = { connection, namespace, config, roles, hostId, provider, host, values, watchdog, takeover }
    const workers = await createTemporalWorkers(temporal)
    const reaper = sandboxes?.startReaper()
    if (reaper) stack.defer(() => reaper.close())
    const ended = (async () => {
      try {
        await runUntilFirstFailure(workers)
      } finally {
        await stack[Symbol.asyncDispose]()
      }
    })()
    // Marks the rejection as handled; `ended` still rejects.
    ended.catch(() => undefined)
    const worker: RunningWorker = {
      sandboxNotice: sandboxes?.notice,
      ended,
      async shutdown() {
        shutdownAll(workers)
        await ended.catch(() => undefined)
      },
    }
    // The workers poll already: these modules take a fifth of the start.
    if (preloadsModel && roles.includes('model')) await loadOrShutDown(worker)
    return worker
  } catch (thrown) {
    await stack[Symbol.asyncDispose]()
    throw thrown
  }
}

async function loadOrShutDown(worker: RunningWorker): Promise<void> {
  try {
    await loadAnthropicSdk()
  } catch (thrown) {
    await worker.shutdown()
    throw thrown
  }
}

function createProvider({ config, modelApi, scriptedModelUrl }: StartWorkerOptions): ModelProvider {
  const timeouts = { idleTimeoutMs: config.idleTimeoutMs, timeoutMs: config.runConfig.timeouts.modelMs }
  const provider = createLazyAnthropicProvider({ ...modelApi, ...timeouts })
  if (scriptedModelUrl === undefined) return provider
  // The server wants a key, and accepts any.
  const scripted = createLazyAnthropicProvider({ ...timeouts, apiKey: 'scripted', baseURL: scriptedModelUrl })
  return withScriptedModel(provider, scripted)
}

interface Sandboxes {
  readonly host: SessionHost
  readonly notice: string
  /** Undefined without Docker: only its sandboxes outlive a worker. */
  startReaper(): { close(): Promise<void> } | undefined
}

async function openSandboxes(options: StartWorkerOptions, connection: NativeConnection): Promise<Sandboxes> {
  const { config, server, warm = 0, onProgress } = options
  const owner = await sandboxOwner(connection, server.namespace)
  const { backends, docker, notice } = await createBackends(config, { owner, warm, onProgress })
  const host = new SessionHost({ namespace: owner, backends, tools: config.registry.signatures() })
  const isRunning = (workflowId: string): Promise<boolean> =>
    isWorkflowRunning(connection, server.namespace, workflowId)
  return { host, notice, startReaper: () => docker && startReaper({ docker, host, owner, isRunning, onProgress }) }
}

/** Runs all workers. When one fails, all are shut down. */
async function runUntilFirstFailure(workers: readonly Worker[]): Promise<void> {
  const runs = workers.map((worker) => worker.run())
  try {
    await Promise.race([Promise.all(runs), ...runs.map((run) => run.then(() => new Promise<never>(() => undefined)))])
  } finally {
    shutdownAll(workers)
    await Promise.allSettled(runs)
  }
}

function shutdownAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
}

async function connect({ address, connectionOptions }: StartWorkerOptions['server']): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions)
  } catch (cause) {
    throw new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(cause)}`, {
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
      cause,
    })
  }
}
