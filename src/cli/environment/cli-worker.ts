import { messageOf, PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { deferred } from '../../common/async/deferred.js'
import {
  installRuntime,
  type LogLevel,
  type ResolvedConfig,
  type RunningWorker,
  startWorker,
  type StartWorkerOptions,
} from '../../worker/index.js'
import { type HealthServer, startHealthServer } from '../../worker/health/health-server.js'
import type { WorkerHealth } from '../../worker/health/health.js'
import { formatListenAddress, parseListenAddress } from '../../platform/listen-address.js'
import type { TemporalServer } from '../../dev-server/index.js'
import { describeThrown } from '../../tools/calls/thrown.js'
import { closeTimeoutMs } from '../process/interrupts.js'
import { printStatus, printStep } from '../process/stdio.js'
import type { LoadedConfig } from './project.js'
import { scriptedModelNotice, startScriptedModel, withScriptedModelName } from './scripted-model.js'
import { fileLog, type LogFormat, logEntry, redactErrors, stderrLogIn, watchdogLogFor } from './worker-log.js'

/** A worker in the process of a command. */
export interface CliWorker {
  /** Tells the user about the sandbox. */
  readonly notice: string | undefined
  /** Tells the user that a script replaces the model. */
  readonly modelNotice: string | undefined
  /** Milliseconds that `close` may take: running activities get the configured time to end. */
  readonly closeTimeoutMs: number
  /** Whether the worker can work now. Never rejects. */
  readonly health: () => Promise<WorkerHealth>
  /** Resolves when the worker exits by itself. */
  readonly unexpectedExit: Promise<PtcError>
  /** Resolves when an error has left the process in an unknown state: then the owner should close the worker. */
  readonly uncaughtError: Promise<PtcError>
  /** Idempotent. */
  close(): Promise<void>
}

interface EmbeddedWorkerOptions extends Pick<StartWorkerOptions, 'server'> {
  readonly config: LoadedConfig
  /** Default: as configured. */
  readonly sandbox: BackendChoice | undefined
  readonly logFile: string
}

/** Starts a worker with every role; its log goes to a file. @throws PtcError, as startWorker does */
export async function startEmbeddedWorker({
  config,
  server,
  sandbox,
  logFile,
}: EmbeddedWorkerOptions): Promise<CliWorker> {
  installRuntime('INFO', redactErrors(fileLog(logFile), config.redact))
  const options = {
    config: overrideBackend(config, sandbox),
    server,
    warm: 1,
    stallLog: logFile,
    onProgress: printStep,
  }
  return startCliWorker(options)
}

interface ForegroundWorkerOptions extends Pick<StartWorkerOptions, 'roles' | 'warm' | 'version'> {
  readonly config: LoadedConfig
  readonly server: TemporalServer
  readonly logLevel: LogLevel
  /** Address that serves metrics. Undefined: none. */
  readonly metricsAddress?: string | undefined
  /** Address that serves health. Undefined: none. */
  readonly healthAddress?: string | undefined
  readonly logFormat: LogFormat
  readonly signal: AbortSignal
}

/**
 * Starts a worker that logs to stderr. Closes the server when it cannot start.
 *
 * @throws PtcError, as startWorker does; the signal's reason
 */
export async function startForegroundWorker(options: ForegroundWorkerOptions): Promise<CliWorker> {
  const { logLevel, logFormat, metricsAddress, healthAddress, signal, ...workerOptions } = options
  let health: HealthServer | undefined
  try {
    const write = redactErrors(stderrLogIn(logFormat), workerOptions.config.redact)
    const inform = logFormat === 'text' ? printStatus : (line: string) => write(logEntry(line))
    installRuntime(logLevel, write, metricsAddress && formatListenAddress(parseListenAddress(metricsAddress)))
    // Starts first: a worker that builds its image is alive, but not ready.
    health = healthAddress === undefined ? undefined : await startHealthServer(healthAddress)
    if (health) inform(`health: ${health.url}/readyz`)
    const stallLog = watchdogLogFor(logLevel)
    const onProgress = logFormat === 'text' ? printStep : inform
    const uncaught = deferred<PtcError>()
    const onUnattributedError = (thrown: unknown): void =>
      uncaught.resolve(new PtcError('INTERNAL', `an error that nothing caught: ${describeThrown(thrown)}`))
    const process = { stallLog, logFormat, preloadsModel: true, onProgress, onUnattributedError }
    const worker = await raceWithSignal(signal, startCliWorker({ ...workerOptions, ...process }))
    health?.watch(worker.health)
    return { ...worker, uncaughtError: uncaught.promise, close: () => closeWithHealth(worker, health) }
  } catch (thrown) {
    await health?.close()
    await options.server.close()
    throw thrown
  }
}

/** The health server closes last: until the worker has ended, it reports that the worker drains. */
async function closeWithHealth(worker: CliWorker, health: HealthServer | undefined): Promise<void> {
  await worker.close()
  await health?.close()
}

type CliWorkerOptions = Omit<StartWorkerOptions, 'scriptedModelUrl'> & { readonly config: LoadedConfig }

/** Without an API key, the worker uses the scripted model of the project, if it has one. */
async function startCliWorker(options: CliWorkerOptions): Promise<CliWorker> {
  const scriptedModel = await startScriptedModel(options.config, options.roles)
  if (scriptedModel === undefined) return toCliWorker(await startWorker(options), options.config)
  try {
    const config = withScriptedModelName(options.config)
    const running = await startWorker({ ...options, config, scriptedModelUrl: scriptedModel.url })
    const worker = toCliWorker(running, config)
    return {
      ...worker,
      modelNotice: scriptedModelNotice,
      async close() {
        await worker.close()
        await scriptedModel.close()
      },
    }
  } catch (thrown) {
    await scriptedModel.close()
    throw thrown
  }
}

function toCliWorker(worker: RunningWorker, { shutdownMs }: ResolvedConfig): CliWorker {
  let isClosing = false
  const unexpectedExit = new Promise<PtcError>((settle) => {
    worker.ended.then(
      () => isClosing || settle(new PtcError('INTERNAL', 'the worker ended by itself')),
      (cause: unknown) =>
        isClosing || settle(new PtcError('INTERNAL', `the worker ended: ${messageOf(cause)}`, { cause })),
    )
  })
  return {
    notice: worker.sandboxNotice,
    modelNotice: undefined,
    closeTimeoutMs: shutdownMs + closeTimeoutMs,
    health: () => worker.health(),
    unexpectedExit,
    uncaughtError: new Promise(() => {}),
    close() {
      isClosing = true
      return worker.shutdown()
    },
  }
}

/** The configuration with another sandbox backend; the worker prepares only that one. */
export function overrideBackend<Config extends StartWorkerOptions['config']>(
  config: Config,
  backend: BackendChoice | undefined,
): Config {
  if (backend === undefined) return config
  return { ...config, sandbox: { ...config.sandbox, backend }, runConfig: { ...config.runConfig, backend } }
}
