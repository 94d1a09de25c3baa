import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../../common/errors.js'
import type { Environment } from '../../sandbox/cache-directory.js'
import { withFileLock } from './file-lock.js'
import { findBinary } from './find-binary.js'
import { freePorts } from './free-ports.js'
import {
  answers,
  findRunningDevServer,
  isGroupAlive,
  readServerRecord,
  removeServerRecord,
  serverOf,
  writeServerRecord,
} from './running-server.js'
import { openServerLog } from './server-log.js'
import { ServerProcess } from './server-process.js'
import { prepareStateDirectory } from './state-directory.js'
import type { TemporalServer } from './temporal-server.js'

export interface DevServerOptions {
  /** Keeps the database, the log and the record that lets other processes find it; undefined: all in memory. */
  readonly stateDirectory?: string | undefined
  /** Also serve Temporal's web UI; false unless given. */
  readonly ui?: boolean
  /** Exactly this port. Unless given: 7233 when there is a UI and it is free (so that links stay), else any. */
  readonly port?: number
  /** Like `port`, around 8233. */
  readonly uiPort?: number
  readonly namespace?: string
  /** Instead of `process.env`. */
  readonly environment?: Environment
  /** Lines for a person about what takes time. */
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
}

const usualPort = 7233
const usualUiPort = 8233
const portAttempts = 3
/** A server whose owner was killed is ended by its supervisor within 5 s; a busy machine takes its time. */
const leftoverMs = 20_000

/**
 * Starts a Temporal dev server, or joins the one that already runs on the state directory. What `TEMPORAL_ADDRESS` names
 * is none of its business: ask `resolveTemporal` first.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when no server can be had or started, with what was tried
 */
export async function startDevServer(options: DevServerOptions): Promise<TemporalServer> {
  const { stateDirectory, signal } = options
  if (stateDirectory === undefined) return start(options)
  const directory = resolve(stateDirectory)
  await prepareStateDirectory(directory)
  return withFileLock(join(directory, 'temporal.lock'), signal, async () => {
    const running = (await findRunningDevServer(directory)) ?? (await waitForLeftover(directory, options))
    return running === undefined ? start({ ...options, stateDirectory: directory }) : joinRunning(running, options)
  })
}

function joinRunning(running: TemporalServer, { namespace, onProgress }: DevServerOptions): TemporalServer {
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

/** Gives the leftover of a killed owner the time to go; one that stays (no supervisor on Windows) is used as it is. */
async function waitForLeftover(directory: string, options: DevServerOptions): Promise<TemporalServer | undefined> {
  const record = await readServerRecord(directory)
  if (record === undefined) return undefined
  const deadline = performance.now() + leftoverMs
  if (isGroupAlive(record.pid))
    options.onProgress(`waiting for the Temporal server of a killed process (pid ${record.pid})`)
  for (;;) {
    const answering = await answers(record)
    if (!answering && !isGroupAlive(record.pid)) break
    if (performance.now() > deadline) {
      if (answering) return serverOf(record)
      break
    }
    await delay(200, undefined, { signal: options.signal })
  }
  await removeServerRecord(directory)
  return undefined
}

async function start(options: DevServerOptions): Promise<TemporalServer> {
  const { stateDirectory, environment = process.env, namespace = 'default', onProgress, signal } = options
  const binary = await findBinary({ environment, onProgress, signal })
  const started = performance.now()
  const server = await startOnFreePorts(options, binary, environment, namespace)
  onProgress(`Temporal: ${server.address}, ready after ${((performance.now() - started) / 1000).toFixed(1)} s`)
  const { address, uiUrl, pid } = server
  if (stateDirectory !== undefined) {
    const owner = process.pid
    await writeServerRecord(stateDirectory, {
      owner,
      pid,
      address,
      namespace,
      ...(uiUrl === undefined ? {} : { uiUrl }),
    })
  }
  return {
    address,
    namespace,
    connectionOptions: { address },
    uiUrl,
    origin: 'started',
    lost: server.lost(),
    async close() {
      await server.close()
      if (stateDirectory !== undefined) await removeServerRecord(stateDirectory)
    },
  }
}

/** Between our finding a free port and the server's taking it somebody else may have: then with other ports. */
async function startOnFreePorts(
  options: DevServerOptions,
  binary: string,
  environment: Environment,
  namespace: string,
): Promise<ServerProcess> {
  const { stateDirectory, ui = false } = options
  await checkWanted(options)
  for (let attempt = 1; ; attempt += 1) {
    const usual = ui && attempt === 1
    const [port, uiPort] = await freePorts([usual ? usualPort : 0, usual ? usualUiPort : 0])
    const server = new ServerProcess({
      binary,
      namespace,
      environment,
      port: options.port ?? port ?? 0,
      uiPort: ui ? (options.uiPort ?? uiPort) : undefined,
      databaseFile: stateDirectory === undefined ? undefined : join(stateDirectory, 'temporal.db'),
      log: await openServerLog(stateDirectory),
    })
    try {
      await server.ready(options.signal)
      return server
    } catch (error) {
      await server.close()
      if (attempt === portAttempts || !isPortTaken(error)) throw error
    }
  }
}

/** Said early and exactly; else whoever has the port would be taken for the server we started. */
async function checkWanted({ port, uiPort }: DevServerOptions): Promise<void> {
  const wanted = [port, uiPort].filter((number) => number !== undefined)
  const free = await freePorts(wanted)
  const taken = wanted.filter((number, place) => free[place] !== number)
  if (taken.length === 0) return
  throw new PtcError('TEMPORAL_UNREACHABLE', `port ${taken.join(' and ')} of this machine is already in use`, {
    hint: 'Choose another port, or none: then a free one is found.',
  })
}

function isPortTaken(error: unknown): boolean {
  return PtcError.isInstance(error) && /address already in use|bind:/i.test(error.message)
}
