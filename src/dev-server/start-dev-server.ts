import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { defined } from '../common/defined.js'
import { PtcError } from '../common/errors.js'
import type { EnvironmentVariables } from '../platform/cache-directory.js'
import { withFileLock } from './file-lock.js'
import { findTemporalCli } from './temporal-cli.js'
import { freePorts } from './free-ports.js'
import {
  isResponding,
  findRunningDevServer,
  isProcessGroupAlive,
  readServerRecord,
  removeServerRecord,
  toTemporalServer,
  writeServerRecord,
} from './running-server.js'
import { openServerLog } from './server-log.js'
import { ServerProcess } from './server-process.js'
import { prepareStateDirectory } from './state-directory.js'
import type { TemporalServer } from './temporal-server.js'

export interface DevServerOptions {
  /** Holds the database, the log and the server's record; undefined: the server runs in memory. */
  readonly stateDirectory?: string | undefined
  /** Serves Temporal's web UI too. Default false. */
  readonly ui?: boolean
  /** Port of the server. Default: 7233 if the UI is served and the port is free, so that links stay valid; else any. */
  readonly port?: number
  /** Port of the UI. Default: like `port`, with 8233. */
  readonly uiPort?: number
  /** Address of a codec server, with which the browser of the UI decodes payloads. */
  readonly uiCodecEndpoint?: string | undefined
  readonly namespace?: string
  /** Default: `process.env`. */
  readonly environment?: EnvironmentVariables
  /** Receives a line for the user about each slow step. */
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
}

const defaultPort = 7233
const defaultUiPort = 8233
const portAttempts = 3
/** The supervisor ends a server within 5 s after its owner was killed, and later on a busy machine. */
const orphanTimeoutMs = 20_000

/**
 * Starts a Temporal dev server, or uses the one that already runs on the state directory. Ignores `TEMPORAL_ADDRESS`;
 * call `resolveTemporal` first.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when no CLI is found or the server does not start
 */
export async function startDevServer(options: DevServerOptions): Promise<TemporalServer> {
  const { stateDirectory, signal } = options
  if (stateDirectory === undefined) return start(options)
  const directory = resolve(stateDirectory)
  await prepareStateDirectory(directory)
  return withFileLock(join(directory, 'temporal.lock'), signal, async () => {
    const running = (await findRunningDevServer(directory)) ?? (await waitForOrphan(directory, options))
    return running === undefined ? start({ ...options, stateDirectory: directory }) : useRunning(running, options)
  })
}

function useRunning(running: TemporalServer, { namespace, onProgress }: DevServerOptions): TemporalServer {
  if (namespace !== undefined && namespace !== running.namespace) {
    throw new PtcError(
      'CONFIG_INVALID',
      `the dev server of this state directory has namespace ${running.namespace}, not ${namespace}`,
      { hint: 'Stop the process that started it, or use another state directory.' },
    )
  }
  onProgress(`Temporal: ${running.address} (already running)`)
  return running
}

/**
 * Waits until the server of a killed owner has ended. A server that stays (no supervisor on Windows) is used unchanged.
 */
async function waitForOrphan(directory: string, options: DevServerOptions): Promise<TemporalServer | undefined> {
  const record = await readServerRecord(directory)
  if (record === undefined) return undefined
  const deadline = performance.now() + orphanTimeoutMs
  if (isProcessGroupAlive(record.pid))
    options.onProgress(`waiting for the Temporal server of a killed process (pid ${record.pid})`)
  for (;;) {
    const responding = await isResponding(record)
    if (!responding && !isProcessGroupAlive(record.pid)) break
    if (performance.now() > deadline) {
      if (responding) return toTemporalServer(record)
      break
    }
    await delay(200, undefined, { signal: options.signal })
  }
  await removeServerRecord(directory)
  return undefined
}

async function start(options: DevServerOptions): Promise<TemporalServer> {
  const { stateDirectory, environment = process.env, namespace = 'default', onProgress, signal } = options
  const binary = await findTemporalCli({ environment, onProgress, signal })
  const started = performance.now()
  const server = await startOnFreePorts(options, binary, environment, namespace)
  onProgress(`Temporal: ${server.address}, ready after ${((performance.now() - started) / 1000).toFixed(1)} s`)
  const { address, uiUrl, pid } = server
  if (stateDirectory !== undefined) {
    const owner = process.pid
    await writeServerRecord(stateDirectory, { owner, pid, address, namespace, ...defined({ uiUrl }) })
  }
  return {
    address,
    namespace,
    connectionOptions: { address },
    uiUrl,
    origin: 'started',
    unexpectedExit: server.unexpectedExit(),
    async close() {
      await server.close()
      if (stateDirectory !== undefined) await removeServerRecord(stateDirectory)
    },
  }
}

/** Starts the server on free ports. Another process may take a port first. Then it retries with other ports. */
async function startOnFreePorts(
  options: DevServerOptions,
  binary: string,
  environment: EnvironmentVariables,
  namespace: string,
): Promise<ServerProcess> {
  const { stateDirectory, ui = false } = options
  await checkRequestedPorts(options)
  for (let attempt = 1; ; attempt += 1) {
    const useDefaultPorts = ui && attempt === 1
    const [port, uiPort] = await freePorts([useDefaultPorts ? defaultPort : 0, useDefaultPorts ? defaultUiPort : 0])
    const server = new ServerProcess({
      binary,
      namespace,
      environment,
      port: options.port ?? port ?? 0,
      uiPort: ui ? (options.uiPort ?? uiPort) : undefined,
      uiCodecEndpoint: options.uiCodecEndpoint,
      databaseFile: stateDirectory === undefined ? undefined : join(stateDirectory, 'temporal.db'),
      log: await openServerLog(stateDirectory),
    })
    try {
      await server.waitUntilReady(options.signal)
      return server
    } catch (error) {
      await server.close()
      if (attempt === portAttempts || !isPortTaken(error)) throw error
    }
  }
}

/** Rejects requested ports that are in use. Otherwise the process on the port could be mistaken for the new server. */
async function checkRequestedPorts({ port, uiPort }: DevServerOptions): Promise<void> {
  const requested = [port, uiPort].filter((number) => number !== undefined)
  const free = await freePorts(requested)
  const taken = requested.filter((number, index) => free[index] !== number)
  if (taken.length === 0) return
  throw new PtcError('TEMPORAL_UNREACHABLE', `port ${taken.join(' and ')} of this machine is already in use`, {
    hint: 'Choose another port, or leave the option out: a free port is used then.',
  })
}

function isPortTaken(error: unknown): boolean {
  return PtcError.isInstance(error) && /address already in use|bind:/i.test(error.message)
}
