import { NativeConnection, type Worker } from '@temporalio/worker'
import { type Role, roles as allRoles } from '../common/names.js'
import { messageOf, PtcError } from '../common/errors.js'
import { createAnthropicProvider } from '../models/anthropic/provider.js'
import { SessionHost } from '../sandbox/session-host.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { ResolvedConfig } from './config/parse-config.js'
import type { TemporalServer } from './dev-server/index.js'
import { hostIdentity } from './host-id.js'
import { isRunning, sandboxOwner } from './ownership.js'
import { startReaper } from './reaper.js'
import { prepareSandboxes, type Sandboxes } from './sandboxes.js'
import { StallWatch } from './stall/stall-watch.js'
import { createValues } from './values.js'
import { createWorkers } from './worker-group.js'

export interface WorkerOptions {
  readonly config: ResolvedConfig
  readonly server: Pick<TemporalServer, 'address' | 'namespace' | 'connectionOptions'>
  /** Default: every role. */
  readonly roles?: readonly Role[]
  /** Default: {@link hostIdentity}. */
  readonly hostId?: string
  /** Containers kept started, when the configuration does not say (`sandbox.docker.warm`). Default 0. */
  readonly warm?: number
  /**
   * Where it is said that a tool blocks the event loop, at that moment, when nothing else can be logged: the path of a
   * file, or nowhere. Default: stderr.
   */
  readonly stallLog?: string | false | undefined
  /** Lines for a person about what takes time. */
  readonly onProgress: (line: string) => void
}

/** One member of a fleet. */
export interface RunningWorker {
  /** What the user should know of the sandbox; undefined without role `sandbox`. */
  readonly sandboxNotice: string | undefined
  /** Settles when the worker has ended; rejects when it ended by a failure. */
  readonly ended: Promise<void>
  /** Stops taking work, lets go of sessions, ends. Idempotent. */
  shutdown(): Promise<void>
}

/**
 * Starts a worker: everything is wired together here.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, CONFIG_INVALID
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { config, server, roles = allRoles, hostId = hostIdentity(), warm = 0, stallLog, onProgress } = options
  const { namespace } = server
  const connection = await connect(server)
  const provider = createAnthropicProvider({
    idleTimeoutMs: config.idleTimeoutMs,
    timeoutMs: config.plan.timings.modelMs,
  })
  const values = await createValues(config)
  let sandboxes: Sandboxes | undefined
  let host: SessionHost | undefined
  let owner = namespace
  let workers: Worker[] = []
  let stallWatch: StallWatch | undefined
  try {
    if (roles.includes('sandbox')) {
      owner = await sandboxOwner(connection, namespace)
      sandboxes = await prepareSandboxes(config, { owner, warm, onProgress })
      host = new SessionHost({ namespace: owner, backends: sandboxes.backends, tools: config.registry.signatures() })
    }
    const { registry } = config
    if (roles.includes('tools') && registry.names.length > 0) {
      const dataConverter = { externalStorage: payloadStorage(values.store) }
      stallWatch = new StallWatch({ server, connection, dataConverter, registry, log: stallLog })
    }
    workers = await createWorkers({ connection, namespace, config, roles, hostId, provider, host, values, stallWatch })
  } catch (thrown) {
    await stallWatch?.close()
    await host?.shutdown()
    await provider.close()
    await values.close()
    await connection.close()
    throw thrown
  }
  const docker = sandboxes?.docker
  const running = (workflowId: string): Promise<boolean> => isRunning(connection, namespace, workflowId)
  const reaper = docker && host && startReaper({ docker, host, owner, isRunning: running, onProgress })
  const runThenClose = async (): Promise<void> => {
    try {
      await runAll(workers)
    } finally {
      await stallWatch?.close()
      await reaper?.close()
      await host?.shutdown()
      await provider.close()
      await values.close()
      await connection.close()
    }
  }
  const ended = runThenClose()
  // Whoever asks later still gets the failure; nobody asking is no crash.
  ended.catch(() => undefined)
  return {
    sandboxNotice: sandboxes?.notice,
    ended,
    async shutdown() {
      stopAll(workers)
      await ended.catch(() => undefined)
    },
  }
}

/** Runs the workers as one: when one fails, all end. */
async function runAll(workers: readonly Worker[]): Promise<void> {
  const runs = workers.map((worker) => worker.run())
  try {
    await Promise.race([Promise.all(runs), ...runs.map((run) => run.then(() => new Promise<never>(() => undefined)))])
  } finally {
    stopAll(workers)
    await Promise.allSettled(runs)
  }
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
}

async function connect({ address, connectionOptions }: WorkerOptions['server']): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions)
  } catch (cause) {
    throw new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(cause)}`, {
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
      cause,
    })
  }
}
