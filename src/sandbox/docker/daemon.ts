import { PtcError } from '../../common/errors.js'
import { daemonProblems } from './check.js'
import { isPodman, keepsCheckpoints, readInfo, readVersion, usesUserNamespace } from './daemon-facts.js'
import type { DockerEngine } from './engine.js'
import { podmanProblems } from './podman.js'

/** What making containers must know of the daemon. */
export interface Daemon {
  /** Root in a container is not root outside. */
  readonly userNamespace: boolean
  /** Podman's service: see podman.ts. */
  readonly isPodman: boolean
  /** It writes containers of this runtime to disk, and starts them from it. */
  readonly keepsCheckpoints: boolean
  /** What it can't enforce that is no wall, a line each. */
  readonly warnings: readonly string[]
}

/**
 * Gets to know the daemon, once, before the first container. A daemon that drops a limit does so in silence, so it is
 * asked: one that can't hold back hostile code is refused.
 *
 * @throws PtcError SANDBOX_UNENFORCED, SANDBOX_UNAVAILABLE
 */
export async function meetDaemon(engine: DockerEngine, runtime: string | undefined): Promise<Daemon> {
  const [info, version] = await Promise.all([readInfo(engine), readVersion(engine)])
  const problems = [...daemonProblems(info, runtime), ...(isPodman(version) ? podmanProblems : [])]
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    const what = errors.map(({ message }) => message).join('; ')
    throw new PtcError('SANDBOX_UNENFORCED', `this Docker daemon can't hold a sandbox: ${what}`, {
      hint: [...new Set(errors.map(({ remedy }) => remedy))].join(' '),
    })
  }
  return {
    userNamespace: usesUserNamespace(info),
    isPodman: isPodman(version),
    keepsCheckpoints: keepsCheckpoints(info, version, runtime),
    warnings: problems.map(({ message }) => message),
  }
}
