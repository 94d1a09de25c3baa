import { messageOf } from '../common/errors.js'
import type { SandboxId } from '../sandbox/backend.js'
import { type DockerBackend, isSame, type ListedSandbox } from '../sandbox/docker/index.js'
import type { SessionHost } from '../sandbox/session-host.js'

const intervalMs = 60_000

/** Clocks jump, and those of two hosts differ: what ended less than this ago may not have ended at all. */
const clockErrorMs = 3_600_000

export interface ReaperOptions {
  readonly docker: DockerBackend
  readonly host: SessionHost
  /** Label of the sandboxes that are ours to judge. */
  readonly owner: string
  readonly isRunning: (workflowId: string) => Promise<boolean>
  readonly onProgress: (line: string) => void
}

/**
 * The last net, now and every minute: removes our sandboxes whose workflow is over (terminated, or its host was away when it
 * ended), and anybody's whose time is over.
 */
export function startReaper(options: ReaperOptions): { close(): Promise<void> } {
  let round = reap(options)
  const timer = setInterval(() => {
    round = round.then(() => reap(options))
  }, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      await round
    },
  }
}

/** One round; never throws. */
export async function reap({ docker, host, owner, isRunning, onProgress }: ReaperOptions): Promise<void> {
  try {
    const abandoned: ListedSandbox[] = []
    const inUse: ListedSandbox[] = []
    for (const sandbox of await docker.listSandboxes(owner)) {
      const { workflowId } = sandbox
      if (await isRunning(workflowId)) inUse.push(sandbox)
      else abandoned.push(sandbox)
    }
    for (const { id } of abandoned) await docker.remove(id)
    // Of a run that goes on, only what was rebuilt since can be forgotten; no clock says so of the rest.
    const isWanted = (id: SandboxId): boolean => host.holds(id) || inUse.some((found) => isLatest(found, inUse, id))
    const expired = await docker.removeExpired({ now: new Date(Date.now()), clockErrorMs, keep: isWanted })
    const count = abandoned.length + expired.length
    if (count > 0) onProgress(`removed ${count} sandboxes that nobody used any more`)
  } catch (thrown) {
    onProgress(`abandoned sandboxes could not be looked for: ${messageOf(thrown)}`)
  }
}

/** Is this sandbox the one of this id, to be had back, and the last one of its session here? */
function isLatest({ id, running, parked }: ListedSandbox, all: readonly ListedSandbox[], wanted: SandboxId): boolean {
  if (!isSame(id, wanted) || !(running || parked)) return false
  return all.every((other) => other.id.session !== id.session || other.id.epoch <= id.epoch)
}
