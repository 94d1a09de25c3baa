import { messageOf } from '../../common/errors.js'
import type { DockerBackend } from '../../sandbox/docker/index.js'
import { repeat, type Repeated } from './repeat.js'

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
 * a message they end by themselves after an hour. A daemon that does not answer does not delay the end of the worker.
 */
export function startKeepAlive({ docker, owner, onProgress }: KeepAliveOptions): Repeated {
  return repeat(intervalMs, (signal) =>
    docker.keepAlive(owner, signal).catch((thrown: unknown) => {
      if (thrown !== signal.reason) onProgress(`sandboxes not kept alive: ${messageOf(thrown)}`)
    }),
  )
}
