import { messageOf } from '../common/errors.js'
import type { DockerBackend } from '../sandbox/docker/index.js'
import type { SessionHost } from '../sandbox/session-host.js'

const intervalMs = 5 * 60_000

/** Removes expired sandboxes of this namespace, now and every five minutes: the last net, for what no workflow closed. */
export function startReaper(
  docker: DockerBackend,
  host: SessionHost,
  namespace: string,
  onProgress: (line: string) => void,
): { close(): Promise<void> } {
  const reap = async (): Promise<void> => {
    try {
      const removed = await docker.removeExpired({ namespace, now: new Date(), keep: (id) => host.holds(id) })
      if (removed.length > 0) onProgress(`removed ${removed.length} expired sandboxes`)
    } catch (thrown) {
      onProgress(`expired sandboxes could not be looked for: ${messageOf(thrown)}`)
    }
  }
  let round = reap()
  const timer = setInterval(() => {
    round = round.then(reap)
  }, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      await round
    },
  }
}
