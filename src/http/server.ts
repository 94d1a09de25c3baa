import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { PtcError } from '../common/errors.js'
import { type Access, checkOrigin, isLoopback } from './access.js'
import { HttpError } from './http-error.js'

/** A request of a page or a program with access, and its response. */
export interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  /** Aborted when the client has left, or when the server closes. */
  readonly signal: AbortSignal
  /** Lets the body arrive in any time. Whoever reads it limits the time in which nothing arrives. */
  readonly allowLongBody: () => void
}

export interface HttpServerOptions extends Access {
  /** Name for messages: `the codec server`. */
  readonly name: string
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** 0: any free port. */
  readonly port: number
  /** The hint when a token is missing. */
  readonly tokenHint: string
  /** Responds to a request. It checks the token. */
  readonly respond: (exchange: HttpExchange) => Promise<void>
  /** Responds to a request that is refused, or that fails before its response begins. */
  readonly respondToError: (thrown: unknown, request: IncomingMessage, response: ServerResponse) => void
}

export interface HttpServer {
  readonly url: string
  /** Idempotent. */
  close(): Promise<void>
}

/** Milliseconds in which the body of a request must arrive, unless its handler allows more. */
const bodyTimeoutMs = 30_000
const headersTimeout = 10_000
/** Milliseconds between two checks of these times. */
const connectionsCheckingInterval = 5_000
/** Longer than proxies keep idle connections (60 s), so that no proxy sends a request on a closing connection. */
const keepAliveTimeout = 75_000
const maxConnections = 1_000
/** Milliseconds in which requests may end when the server closes. */
export const graceMs = 3_000

/**
 * Starts a server.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is taken
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { name, host = '127.0.0.1', port, token, tokenHint } = options
  if (token === undefined && !isLoopback(host))
    throw new PtcError('CONFIG_INVALID', `${name} on ${host} needs a token`, { hint: tokenHint })
  const active = new Map<ServerResponse, AbortController>()
  // The limit of Node for whole requests is one for all paths.
  const timeouts = { requestTimeout: 0, headersTimeout, connectionsCheckingInterval, keepAliveTimeout }
  const server = createServer(timeouts, (request, response) => {
    const ended = new AbortController()
    active.set(response, ended)
    response.once('close', () => {
      active.delete(response)
      ended.abort(new Error('the client has left'))
    })
    answer(request, response, ended.signal, options).catch(() => response.destroy())
  })
  limitConnections(server, maxConnections)
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
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${address.port}`,
    close: () => (closed ??= close(server, active)),
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  { token, origins, respond, respondToError }: HttpServerOptions,
): Promise<void> {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Referrer-Policy', 'no-referrer')
  const bodyTimer = setTimeout(() => request.complete || request.destroy(), bodyTimeoutMs)
  response.once('close', () => clearTimeout(bodyTimer))
  try {
    checkOrigin(request, response, { token, origins })
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const allowLongBody = (): void => clearTimeout(bodyTimer)
    await respond({ request, response, url: urlOf(request), signal, allowLongBody })
  } catch (thrown) {
    if (response.headersSent) return void response.end()
    if (signal.aborted) return void response.destroy()
    // The server does not read the rest of a body that is too large.
    if (!request.complete) response.setHeader('Connection', 'close')
    respondToError(thrown, request, response)
  }
}

/** @throws HttpError NOT_FOUND */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const absolute = `http://server${url}`
  if (url.startsWith('/') && URL.canParse(absolute)) return new URL(absolute)
  throw new HttpError('NOT_FOUND', 'the request has no path')
}

/**
 * Ends the requests (invariant 5). Waits for responses, not for connections: for the server, a connection without a
 * request, which browsers open in advance, is not idle.
 */
async function close(server: Server, active: ReadonlyMap<ServerResponse, AbortController>): Promise<void> {
  const ended = once(server, 'close')
  server.close()
  const responded = [...active.keys()].map((response) => new Promise((resolve) => response.once('close', resolve)))
  for (const controller of active.values()) controller.abort(new Error('the server closes'))
  const timer = new AbortController()
  const grace = delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)
  await Promise.race([Promise.all(responded), grace])
  timer.abort()
  server.closeAllConnections()
  await ended
}

/**
 * Closes the oldest connection without a request when there are too many (invariant 4).
 */
export function limitConnections(server: Server, maximum: number): void {
  const waiting = new Set<Socket>()
  let open = 0
  server.on('connection', (socket: Socket) => {
    open += 1
    waiting.add(socket)
    socket.once('close', () => {
      open -= 1
      waiting.delete(socket)
    })
    if (open <= maximum) return
    const [oldest = socket] = waiting
    oldest.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage, response) => {
    waiting.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket)
    })
  })
}
