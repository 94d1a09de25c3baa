import { Readable } from 'node:stream'
import { PtcError } from '../common/errors.js'
import type { SandboxConnection, SandboxEnd } from './backend.js'
import { orphanedExitCode, sigkillExitCode } from './sandbox-end.js'

/**
 * A connection to a sandbox that ended by itself while no worker was connected. The connection only reports the end, so
 * that code that ran out of memory is not run again after a worker crash. Undefined for a sandbox that was killed, or
 * that ended because no worker lived.
 */
export function exitedConnection(description: string, end: SandboxEnd): SandboxConnection | undefined {
  const { reason, exitCode } = end
  if (reason === 'exited' && (exitCode === sigkillExitCode || exitCode === orphanedExitCode)) return undefined
  return {
    description,
    received: Readable.from([]),
    ended: Promise.resolve(end),
    send: () => Promise.reject(new PtcError('SANDBOX_LOST', 'the sandbox has exited')),
    interrupt: () => Promise.resolve(false),
    kill: () => Promise.resolve(),
    detach: () => Promise.resolve(),
  }
}
