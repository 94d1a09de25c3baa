import { Readable } from 'node:stream'
import { PtcError } from '../../common/errors.js'
import type { SandboxConnection } from '../backend.js'
import { killedExitCode } from '../lost.js'
import { hintOf, lookAtEnd } from './end.js'
import type { DockerEngine } from './engine.js'

/**
 * To a container that ended by itself while nobody was connected: all that is to be heard of it is how, so that code which used up its
 * memory is not run again only because its worker died. Undefined for one that was killed, or is gone.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function connectToEnded(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<SandboxConnection | undefined> {
  const end = await lookAtEnd(engine, container, signal)
  const { reason, exitCode } = end
  if (reason === 'disconnected' || exitCode === null) return undefined
  if (reason === 'exited' && exitCode === killedExitCode) return undefined
  return {
    description: `docker container ${container.slice(0, 12)}, which has ended`,
    received: Readable.from([]),
    ended: Promise.resolve({ reason, exitCode, diagnostics: hintOf(end) }),
    send: () => Promise.reject(new PtcError('SANDBOX_LOST', 'the sandbox has ended')),
    interrupt: () => Promise.resolve(false),
    kill: () => Promise.resolve(),
    detach: () => Promise.resolve(),
  }
}
