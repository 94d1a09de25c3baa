import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { DockerEngine } from './engine.js'
import { statusOf } from './errors.js'

/**
 * The raw socket of a container's stdin, stdout and stderr, the latter two multiplexed.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function attach(engine: DockerEngine, container: string, signal?: AbortSignal): Promise<Duplex> {
  const doing = `attach to container ${container}`
  const socket = await engine.call({ doing, signal }, (_docker, abortSignal) =>
    // Without a body, as the docker CLI does it: dockerode's attach sends its options as one, and on some daemons
    // those bytes end up in the container's stdin.
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
  // A remote daemon whose host is gone says nothing for ever otherwise.
  if (socket instanceof Socket) socket.setKeepAlive(true, 30_000)
  if (socket instanceof Duplex) return socket
  throw new PtcError('SANDBOX_UNAVAILABLE', `could not ${doing}: the answer is no raw stream`, {
    hint: 'Something between here and the Docker daemon does not pass HTTP upgrades.',
  })
}

const waitAnswer = z.object({ StatusCode: z.int() })

/**
 * The exit code of a container once it does not run; null when it is gone, undefined when the daemon can't tell any
 * more. (dockerode's own wait never settles when the daemon dies.) Has no deadline but `signal`; never rejects.
 */
export async function waitForExit(
  engine: DockerEngine,
  container: string,
  signal: AbortSignal,
): Promise<number | null | undefined> {
  try {
    const response = await engine.dial({
      path: `/containers/${container}/wait?`,
      method: 'POST',
      options: { _query: { condition: 'not-running' }, _body: {} },
      isStream: true,
      statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
      abortSignal: signal,
    })
    if (!(response instanceof IncomingMessage)) return undefined
    return waitAnswer.parse(JSON.parse(await text(response))).StatusCode
  } catch (error) {
    return statusOf(error) === 404 ? null : undefined
  }
}
