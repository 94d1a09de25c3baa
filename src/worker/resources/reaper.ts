import { messageOf } from '../../common/errors.js'
import { isSameSandbox, type SandboxId } from '../../sandbox/backend.js'
import type { DockerBackend, ListedSandbox } from '../../sandbox/docker/index.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'

/**
 * Tolerance for clocks that jump or differ between hosts: a sandbox counts as expired this many milliseconds after its
 * expiry.
 */
const clockSkewMs = 3_600_000

interface ReaperOptions {
  readonly docker: DockerBackend
  readonly host: SessionHost
  /** Owner label of the sandboxes of this namespace. */
  readonly owner: string
  readonly isRunning: (workflowId: string) => Promise<boolean>
  readonly onProgress: (line: string) => void
}

/**
 * Removes sandboxes of this namespace whose workflow has ended (it was terminated, or its host was unreachable), and
 * expired sandboxes of any owner. Never throws.
 */
export async function reap({ docker, host, owner, isRunning, onProgress }: ReaperOptions): Promise<void> {
  try {
    const abandoned: ListedSandbox[] = []
    const active: ListedSandbox[] = []
    for (const sandbox of await docker.listSandboxes(owner)) {
      const { workflowId } = sandbox
      if (await isRunning(workflowId)) active.push(sandbox)
      else abandoned.push(sandbox)
    }
    for (const { id } of abandoned) await docker.remove(id)
    // The newest sandbox of a running workflow's session is in use, even after its expiry.
    const isInUse = (id: SandboxId): boolean =>
      host.hasSession(id) || active.some((found) => isNewestSandbox(found, active, id))
    const expired = await docker.removeExpired({ now: new Date(Date.now()), clockSkewMs, isInUse })
    const count = abandoned.length + expired.length
    if (count > 0) onProgress(`removed ${count} unused sandboxes`)
  } catch (thrown) {
    onProgress(`abandoned sandboxes could not be looked for: ${messageOf(thrown)}`)
  }
}

/** True if this sandbox has the id, can be attached to, and has the latest epoch of its session here. */
function isNewestSandbox({ id, state }: ListedSandbox, all: readonly ListedSandbox[], candidate: SandboxId): boolean {
  if (!isSameSandbox(id, candidate) || !(state === 'running' || state === 'parked')) return false
  return all.every((other) => other.id.session !== id.session || other.id.epoch <= id.epoch)
}
