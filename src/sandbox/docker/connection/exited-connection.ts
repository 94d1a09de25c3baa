import type { SandboxConnection } from '../../backend.js'
import { exitedConnection } from '../../exited-connection.js'
import { inspectExit, oomDiagnostic } from './container-exit.js'
import type { DockerEngine } from '../engine/docker-engine.js'

/**
 * A connection to a container that has exited by itself, as {@link exitedConnection} says. Undefined also for one that
 * was removed.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function connectToExited(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<SandboxConnection | undefined> {
  const exit = await inspectExit(engine, container, signal)
  if (exit === 'running' || exit.exitCode === null) return undefined
  const { reason, exitCode } = exit
  const end = { reason, exitCode, diagnostics: oomDiagnostic(exit) }
  return exitedConnection(`docker container ${container.slice(0, 12)}, exited`, end)
}
