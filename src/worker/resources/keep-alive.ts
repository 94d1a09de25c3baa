import { messageOf } from '../../common/errors.js'
import type { DockerBackend } from '../../sandbox/docker/index.js'

/** A sandbox ends by itself an hour after four of these calls have failed. */
const intervalMs = 15 * 60_000

interface KeepAliveOptions {
  readonly docker: DockerBackend
  /** Owner label of the sandboxes of this namespace. */
  readonly owner: string
  readonly onProgress: (line: string) => void
}

/**
 * Tells the sandboxes of this namespace on this daemon that a worker lives, at once and every 15 minutes. Without such
 * a message they end by themselves after an hour.
 */
export function startKeepAlive({ docker, owner, onProgress }: KeepAliveOptions): { close(): Promise<void> } {
  const closing = new AbortController()
  const { signal } = closing
  const keepAlive = (): Promise<void> =>
    docker.keepAlive(owner, signal).catch((thrown: unknown) => {
      if (thrown !== signal.reason) onProgress(`sandboxes not kept alive: ${messageOf(thrown)}`)
    })
  let round = keepAlive()
  const timer = setInterval(() => {
    round = round.then(keepAlive)
  }, intervalMs)
  return {
    async close() {
      clearInterval(timer)
      // A daemon that does not answer must not delay the end of the worker.
      closing.abort()
      await round
    },
  }
}
