import { messageOf } from '../common/errors.js'
import type { SandboxId } from '../sandbox/backend.js'
import { type DockerBackend, isSame, type ListedSandbox } from '../sandbox/docker/index.js'
import type { SessionHost } from '../sandbox/session-host.js'

const intervalMs = 60_000

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
    const waiting: ListedSandbox[] = []
    for (const sandbox of await docker.listSandboxes(owner)) {
      if (!(await isRunning(sandbox.workflowId))) abandoned.push(sandbox)
      else if (sandbox.parked) waiting.push(sandbox)
    }
    for (const { id } of abandoned) await docker.remove(id)
    // What waits on disk for days is as little forgotten as what somebody works with.
    const isWanted = (id: SandboxId): boolean => host.holds(id) || waiting.some((parked) => isSame(parked.id, id))
    const expired = await docker.removeExpired({ now: new Date(), keep: isWanted })
    const count = abandoned.length + expired.length
    if (count > 0) onProgress(`removed ${count} sandboxes that nobody used any more`)
  } catch (thrown) {
    onProgress(`abandoned sandboxes could not be looked for: ${messageOf(thrown)}`)
  }
}
