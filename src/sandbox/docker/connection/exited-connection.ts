import { Readable } from 'node:stream'
import { PtcError } from '../../../common/errors.js'
import type { SandboxConnection } from '../../backend.js'
import { orphanedExitCode, sigkillExitCode } from '../../sandbox-end.js'
import { inspectExit, oomDiagnostic } from './container-exit.js'
import type { DockerEngine } from '../engine/docker-engine.js'

/**
 * A connection to a container that exited by itself while no worker was connected. The connection only reports the
 * exit, so that code that ran out of memory is not run again after a worker crash. Returns undefined for a container
 * that was killed or removed, or that ended because no worker lived.
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
  if (reason === 'exited' && (exitCode === sigkillExitCode || exitCode === orphanedExitCode)) return undefined
  return {
    description: `docker container ${container.slice(0, 12)}, exited`,
    received: Readable.from([]),
    ended: Promise.resolve({ reason, exitCode, diagnostics: oomDiagnostic(exit) }),
    send: () => Promise.reject(new PtcError('SANDBOX_LOST', 'the sandbox has exited')),
    interrupt: () => Promise.resolve(false),
    kill: () => Promise.resolve(),
    detach: () => Promise.resolve(),
  }
}
