import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../common/errors.js'
import { isLoopback } from './access.js'

export interface ListenOptions {
  /** Name for messages: `the codec server`. */
  readonly name: string
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /**
   * Token that requests must have. Undefined: requests need none, and the server listens on the loopback interface
   * only.
   */
  readonly token: string | undefined
  /** The hint when a token is missing. */
  readonly tokenHint: string
  /** Milliseconds in which requests may end when the server closes. Default 0. */
  readonly graceMs?: number
}

export interface ListeningServer {
  readonly url: string
  /** Idempotent. */
  close(): Promise<void>
}

/**
 * Binds a server to its address.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is taken
 */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  const { name, host, port, token, tokenHint, graceMs = 0 } = options
  if (token === undefined && !isLoopback(host)) {
    throw new PtcError('CONFIG_INVALID', `${name} on ${host} needs a token`, { hint: tokenHint })
  }
  const responding = new Set<ServerResponse>()
  server.on('request', (_request, response) => {
    responding.add(response)
    response.once('close', () => responding.delete(response))
  })
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `${name} can't listen on ${host}:${port}`, {
      hint: 'Choose another port with --port.',
      cause,
    })
  }
  const address = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  const end = async (): Promise<void> => {
    const ended = once(server, 'close')
    server.close()
    // Waits for responses, not for connections: for the server, a connection without a request, which browsers open in
    // advance, is not idle.
    const responded = [...responding].map((response) => new Promise((resolve) => response.once('close', resolve)))
    const timer = new AbortController()
    await Promise.race([
      Promise.all(responded),
      delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined),
    ])
    timer.abort()
    server.closeAllConnections()
    await ended
  }
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${address.port}`,
    close: () => (closed ??= end()),
  }
}
