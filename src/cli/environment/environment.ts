import { join } from 'node:path'
import type { Client } from '@temporalio/client'
import { createPtcClient, type PtcClient, type PtcClientOptions } from '../../client/client.js'
import { connectClient } from '../../client/connect.js'
import type { RunHandle } from '../../client/run/run-handle.js'
import { startRun } from '../../client/run/start-run.js'
import type { CheckedStart } from '../../client/start/start-options.js'
import { requireWorkers } from '../../client/workers/task-queue.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { messageOf, type PtcError } from '../../common/errors.js'
import type { Role } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { AgentResult, ProgramResult } from '../../common/run/runs.js'
import { extendDataConverter } from '../../values/data-converter.js'
import { openStore } from '../../values/open-store.js'
import { Values } from '../../values/values.js'
import type { TemporalServer } from '../../dev-server/index.js'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import { closeTimeoutMs, exitedShutdownTimeoutMs, type Interrupts, waitAtMost } from '../process/interrupts.js'
import { printStatus } from '../process/stdio.js'
import type { StreamSink } from '../../stream/index.js'
import type { CliWorker } from './cli-worker.js'
import {
  idleRoles,
  keysOf,
  type LoadedConfig,
  type LoadedProject,
  type Project,
  type ProjectOptions,
  resolveProject,
  withStream,
} from './project.js'
import { resolveServer, type ResolveServerOptions } from './server.js'

/*
 * Owns what a command needs to reach runs, and its life time: project, server, values, worker, client.
 *
 * Boundary: `project.ts` loads configurations, `server.ts` finds or starts servers; this file puts the parts together.
 * Commands get an open Environment and close it.
 *
 * Invariants:
 * 1. The parts are opened in one order: project, server, values, worker, client. They are closed in the reverse order.
 * 2. When a part cannot be opened, the parts before it are closed. Only a server that this command started is ended.
 * 3. Closing takes at most 15 s (2 s after an unexpected exit), and ends at once on the second Ctrl-C.
 */

export interface EnvironmentOptions extends ProjectOptions, Pick<ResolveServerOptions, 'ifNoServer'> {
  /** Sandbox of a worker that this command starts. Default: as configured. */
  readonly sandbox?: BackendChoice | undefined
  readonly interrupts: Interrupts
}

/** @throws PtcError TEMPORAL_UNREACHABLE, and what loading a configuration and starting a worker throw */
export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { ifNoServer, sandbox, interrupts } = options
  const project = await resolveProject(options)
  const server = await resolveServer(project, { ifNoServer, signal: interrupts.first })
  const startsWorker = server.origin === 'started' && ifNoServer === 'start_with_worker'
  return connectEnvironment({ project, server, startsWorker, sandbox, interrupts })
}

interface ConnectEnvironmentOptions extends Pick<EnvironmentOptions, 'sandbox' | 'interrupts'> {
  readonly project: Project
  /** The environment closes it, also when opening fails. */
  readonly server: TemporalServer
  /** Starts a worker when the project has a configuration. */
  readonly startsWorker: boolean
}

/** @throws PtcError TEMPORAL_UNREACHABLE, and what opening a store and starting a worker throw */
export async function connectEnvironment(options: ConnectEnvironmentOptions): Promise<Environment> {
  const { server, startsWorker, interrupts } = options
  const project = withStream(options.project, server)
  const { config, store } = project
  const stack = new DisposableStack()
  stack.defer(() => server.close())
  try {
    // A person waits for the output: an unavailable store is not retried.
    const keys = keysOf(project)
    const values = new Values({ store: await openStore(store, keys), retryForMs: 0 })
    stack.defer(() => values.close())
    const worker =
      startsWorker && config !== undefined ? await startWorkerOfCommand({ ...project, config }, options) : undefined
    if (worker !== undefined) stack.defer(() => worker.close())
    // The exit of the process closes the connection. On a closed connection the SDK's own retries throw uncaught
    // errors.
    const dataConverter = extendDataConverter(undefined, { open: () => values.valueStore, keys })
    const plugins = config?.tracing ? [config.tracing] : []
    if (config?.tracing) stack.defer(() => sendTraces(config))
    const client = await raceWithSignal(interrupts.first, connectClient(server, dataConverter, plugins))
    return new Environment({ project, server, values, worker, client, stack, interrupts })
  } catch (thrown) {
    await closeAll(stack, closeTimeoutMs, interrupts)
    throw thrown
  }
}

/** Sends the spans of the client. A worker sends its own spans. */
async function sendTraces({ tracing }: LoadedConfig): Promise<void> {
  const { flushTraces } = await import('../../worker/plugin/tracing.js')
  const problem = await flushTraces(tracing)
  if (problem !== undefined) printStatus(`ptc: ${problem}`)
}

async function startWorkerOfCommand(
  { stateDirectory, config }: LoadedProject,
  { server, sandbox, interrupts }: ConnectEnvironmentOptions,
): Promise<CliWorker> {
  const { startEmbeddedWorker } = await import('./cli-worker.js')
  const starting = startEmbeddedWorker({ config, server, sandbox, logFile: join(stateDirectory, 'worker.log') })
  const worker = await raceWithSignal(interrupts.first, starting)
  // When stderr is not a terminal, the progress of a run names its sandbox.
  if (worker.notice !== undefined && process.stderr.isTTY) printStatus(worker.notice)
  return worker
}

/** Prints an error of closing: a thrown one would hide why the command failed. */
async function closeAll(stack: DisposableStack, timeoutMs: number, { second }: Interrupts): Promise<void> {
  const closed = stack[Symbol.asyncDispose]().catch((thrown: unknown) => printStatus(`ptc: ${messageOf(thrown)}`))
  await waitAtMost(timeoutMs, closed, second)
}

interface EnvironmentParts {
  readonly project: Project
  readonly server: TemporalServer
  readonly values: Values
  readonly worker: CliWorker | undefined
  readonly client: Client
  readonly stack: DisposableStack
  readonly interrupts: Interrupts
}

/** A reachable Temporal server, the clients of a command, and optionally a worker that this command started. */
export class Environment implements AsyncDisposable {
  readonly server: TemporalServer
  readonly client: Client
  readonly ptc: PtcClient
  /** External values of runs. */
  readonly values: Values
  /** Resolves when the server or the worker that this command started exits by itself. */
  readonly unexpectedExit: Promise<PtcError>
  readonly #parts: EnvironmentParts
  readonly #clientOptions: PtcClientOptions & Pick<PtcClient, 'taskQueue'>
  #hasExited = false

  constructor(parts: EnvironmentParts) {
    const { server, client, values, worker, project } = parts
    this.server = server
    this.client = client
    this.values = values
    const { taskQueue, config } = project
    const configured = config && { redact: config.redact, ...defined({ stream: config.stream }) }
    this.#clientOptions = { client, taskQueue, values, ...configured }
    this.ptc = createPtcClient(this.#clientOptions)
    this.unexpectedExit =
      worker === undefined ? server.unexpectedExit : Promise.race([server.unexpectedExit, worker.unexpectedExit])
    this.#parts = parts
    void this.unexpectedExit.then(() => (this.#hasExited = true))
  }

  /** True when this command started the server, which then ends with it. */
  get ownsServer(): boolean {
    return this.server.origin === 'started'
  }

  /** The live stream of the project. Undefined: the project has none, or its configuration was not loaded. */
  get stream(): StreamSink | undefined {
    return this.#parts.project.config?.stream
  }

  /** Undefined when there is no configuration, or when it was not loaded. */
  get config(): LoadedConfig | undefined {
    return this.#parts.project.config
  }

  /** For messages: whether work continues after the command ends. */
  get howWorkContinues(): string {
    return this.ownsServer ? 'continues when a worker runs again' : 'continues'
  }

  /**
   * Names by which code of a language calls the configured tools, without those of sources; empty without a loaded
   * configuration.
   */
  toolNamesIn(language: string): readonly string[] {
    const known = this.#parts.project.config?.tools.known.inLanguage(language)
    return known?.signatures().map(({ name }) => name) ?? []
  }

  /** The configured model and its fallbacks, as `PROVIDER/MODEL`; empty when the configuration was not loaded. */
  get modelNames(): readonly string[] {
    const { model } = this.#parts.project.config?.runConfig ?? {}
    return model ? [model, ...(model.fallbacks ?? [])].map(({ provider, name }) => `${provider}/${name}`) : []
  }

  /** Starts a run whose input the command has checked before it opened the environment. */
  startRun(start: CheckedStart): Promise<RunHandle<AgentResult | ProgramResult>> {
    return startRun(this.#clientOptions, start)
  }

  /** @throws PtcError WORKER_MISSING when no worker serves one of these roles */
  async requireWorkers(roles: readonly Role[]): Promise<void> {
    const { worker, project, client } = this.#parts
    if (worker !== undefined) return
    const idle = project.config ? idleRoles(project.config) : []
    await requireWorkers(
      client,
      project.taskQueue,
      roles.filter((role) => !idle.includes(role)),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { stack, worker, interrupts } = this.#parts
    const timeoutMs = this.#hasExited ? exitedShutdownTimeoutMs : (worker?.closeTimeoutMs ?? closeTimeoutMs)
    await closeAll(stack, timeoutMs, interrupts)
  }
}
