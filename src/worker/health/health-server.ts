import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { isIPv6, type AddressInfo } from 'node:net'
import { messageOf, PtcError } from '../../common/errors.js'
import { parseListenAddress } from '../../platform/listen-address.js'
import { notStarted, type WorkerHealth } from './health.js'

/** Probes within this time share one check. */
const reuseMs = 1_000

export interface HealthServer {
  readonly url: string
  /** Sets the source of the health report. Before the call, the process is not ready. */
  watch(health: () => Promise<WorkerHealth>): void
  /** Idempotent. */
  close(): Promise<void>
}

/**
 * Serves `/healthz` (200 while the event loop answers) and `/readyz` (200 when the worker can work, else 503), both
 * with JSON.
 *
 * @param address IP address and port; port 0: a free one
 * @throws PtcError CONFIG_INVALID
 */
export async function startHealthServer(address: string): Promise<HealthServer> {
  const { host, port } = parseListenAddress(address)
  let check = (): Promise<WorkerHealth> => Promise.resolve(notStarted)
  let latest: { readonly health: Promise<WorkerHealth>; readonly at: number } | undefined
  const currentHealth = (): Promise<WorkerHealth> => {
    if (latest === undefined || performance.now() - latest.at > reuseMs)
      latest = { health: check(), at: performance.now() }
    return latest.health
  }
  const respond = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/healthz') return sendJson(response, 200, { status: 'ok' })
    if (path !== '/readyz') return sendJson(response, 404, { error: 'there are /healthz and /readyz' })
    const { ready, checks } = await currentHealth()
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', checks })
  }
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendJson(response, 405, { error: 'only GET and HEAD' })
    const [path = ''] = (request.url ?? '').split('?')
    respond(path, response).catch((thrown: unknown) => sendJson(response, 500, { error: messageOf(thrown) }))
  })
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', `health can't be served at ${address}: ${messageOf(cause)}`, {
      hint: 'Give another --health-address, or end the process that uses this one.',
      cause,
    })
  }
  // The server listens on a port, so the address is not a pipe.
  const bound = server.address() as AddressInfo
  return {
    url: `http://${isIPv6(bound.address) ? `[${bound.address}]` : bound.address}:${bound.port}`,
    watch(health) {
      check = health
      latest = undefined
    },
    async close() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(`${JSON.stringify(body)}\n`)
}
