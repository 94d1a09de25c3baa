import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { PtcError } from '../../../common/errors.js'
import type { DockerEngine } from '../engine/docker-engine.js'

/**
 * Attaches to a container: the raw socket carries its stdin, and its stdout and stderr multiplexed.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function openAttachStream(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<Duplex> {
  const action = `attach to container ${container}`
  const socket = await engine.call({ action, signal }, (_docker, abortSignal) =>
    // The request has no body, like the request of the docker CLI. dockerode's own `attach` sends its options as the
    // body, and some daemons pass these bytes to the container's stdin.
    engine.dial({
      path: `/containers/${container}/attach?`,
      method: 'POST',
      options: { _query: { stream: 1, stdin: 1, stdout: 1, stderr: 1 } },
      headers: { 'Content-Type': 'text/plain' },
      file: Buffer.alloc(0),
      isStream: true,
      hijack: true,
      statusCodes: { 404: 'no such container', 409: 'container is paused', 500: 'server error' },
      abortSignal,
    }),
  )
  // This detects a remote host that has disappeared.
  if (socket instanceof Socket) socket.setKeepAlive(true, 30_000)
  if (socket instanceof Duplex) return socket
  throw new PtcError('SANDBOX_UNAVAILABLE', `could not ${action}: the response is not a raw stream`, {
    hint: 'Something between here and the Docker daemon does not pass HTTP upgrades.',
  })
}
