import { PtcError } from '../../../common/errors.js'
import { readInfo, supportsCheckpoint, usesUserNamespace } from './daemon-info.js'
import { daemonProblems } from './daemon-problems.js'
import type { DockerEngine } from './docker-engine.js'

/** The properties of a daemon that determine the options of containers. */
export interface DaemonCapabilities {
  /** True when root in a container is not root on the host. */
  readonly userNamespace: boolean
  /** True when the daemon can checkpoint containers of the configured runtime. */
  readonly supportsCheckpoint: boolean
  /** Limits that the daemon does not enforce and that are not part of the isolation, one line each. */
  readonly warnings: readonly string[]
}

/**
 * Reads /info, and refuses a daemon that does not enforce isolation. The check is needed because a daemon
 * ignores a limit that it can't enforce, without an error.
 *
 * @throws PtcError SANDBOX_UNENFORCED, SANDBOX_UNAVAILABLE
 */
export async function probeDaemon(engine: DockerEngine, runtime: string | undefined): Promise<DaemonCapabilities> {
  const info = await readInfo(engine)
  const problems = daemonProblems(info, runtime)
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    const summary = errors.map(({ message }) => message).join('; ')
    throw new PtcError('SANDBOX_UNENFORCED', `this Docker daemon can't isolate a sandbox: ${summary}`, {
      hint: [...new Set(errors.map(({ remedy }) => remedy))].join(' '),
    })
  }
  return {
    userNamespace: usesUserNamespace(info),
    supportsCheckpoint: supportsCheckpoint(info, runtime),
    warnings: problems.map(({ message }) => message),
  }
}
