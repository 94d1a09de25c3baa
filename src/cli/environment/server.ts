import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CodecServer } from '../../codec-server/index.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { resolveTemporal, startDevServer, type TemporalServer } from '../../dev-server/index.js'
import { printStep } from '../process/stdio.js'
import { openCodecServer } from './codec-server.js'
import { displayPath, type Project } from './project.js'

export interface ResolveServerOptions {
  /**
   * The action when no Temporal server runs: start one with a worker, start one only to read its database, or fail. A
   * worker needs a configuration, and reading needs a database. Without them the command fails as well.
   */
  readonly ifNoServer: 'start_with_worker' | 'start_read_only' | 'fail'
  /** Receives lines about the server that was found. Default: none. */
  readonly onProgress?: (line: string) => void
  readonly signal: AbortSignal
}

/** @throws PtcError TEMPORAL_UNREACHABLE */
export async function resolveServer(
  project: Project,
  { ifNoServer, onProgress = () => undefined, signal }: ResolveServerOptions,
): Promise<TemporalServer> {
  const { stateDirectory, config } = project
  const existing = await resolveTemporal({ stateDirectory, onProgress })
  if (existing !== undefined) return existing
  const state = displayPath(stateDirectory)
  if (ifNoServer === 'start_with_worker' && config !== undefined) {
    printStep(`no Temporal server is running: starting one, and a worker, for this command (state in ${state})`)
  } else if (ifNoServer === 'start_read_only' && existsSync(join(stateDirectory, 'temporal.db'))) {
    printStep(`no Temporal server is running: starting one to read ${state}`)
  } else {
    throw noServerError(ifNoServer)
  }
  return startDevServer({ stateDirectory, onProgress: printSlowStep, signal })
}

interface ServerWithUiOptions {
  /** Ports of the server and its UI; default: the usual ones, or free ones. */
  readonly port?: number
  readonly uiPort?: number
  readonly signal: AbortSignal
}

/**
 * The configured server, else the dev server of the project, which is started with its UI unless it is running.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function resolveServerWithUi(
  project: Project,
  { port, uiPort, signal }: ServerWithUiOptions,
): Promise<TemporalServer> {
  const configured = await resolveTemporal({ onProgress: printStep })
  if (configured !== undefined) return configured
  const codecServer = await openCodecServer(project, { port: 0, origins: [] })
  try {
    const server = await startDevServer({
      stateDirectory: project.stateDirectory,
      ui: true,
      uiCodecEndpoint: codecServer.url,
      ...defined({ port, uiPort }),
      onProgress: printStep,
      signal,
    })
    if (server.origin === 'started') return withCodecServer(server, codecServer)
    await codecServer.close()
    return server
  } catch (thrown) {
    await codecServer.close()
    throw thrown
  }
}

/** A server whose `close` also closes the codec server of its UI. */
function withCodecServer(server: TemporalServer, codecServer: CodecServer): TemporalServer {
  const { port } = new URL(server.uiUrl ?? '')
  for (const host of ['localhost', '127.0.0.1']) codecServer.allowOrigin(`http://${host}:${port}`)
  return {
    ...server,
    async close() {
      await Promise.all([server.close(), codecServer.close()])
    },
  }
}

export function noServerError(ifNoServer: ResolveServerOptions['ifNoServer']): PtcError {
  const reason =
    ifNoServer === 'start_with_worker' ? '; a server is started automatically only with a ptc.config.ts' : ''
  return new PtcError('TEMPORAL_UNREACHABLE', `no Temporal server is running for this folder${reason}`, {
    hint: 'Start one with `ptc dev`, or set TEMPORAL_ADDRESS to one that runs elsewhere.',
  })
}

/** Prints downloads and builds, which take minutes. Does not print the use of a cached copy. */
function printSlowStep(line: string): void {
  if (/\b(download|build|waiting)/i.test(line)) printStep(line)
}
