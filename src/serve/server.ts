import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PtcClient } from '../client/index.js'
import { raceWithSignal, withTimeLimit } from '../common/async/abort.js'
import { PtcError } from '../common/errors.js'
import { listen, type ListeningServer } from '../http/index.js'
import { type Access, checkOrigin, checkToken } from './access.js'
import { aiSdkRoutes } from './ai-sdk/routes.js'
import { approvalRoutes } from './approvals.js'
import { conversationRoutes } from './conversations.js'
import { HttpError, toErrorReply } from './errors.js'
import { pageFile } from './page/index.js'
import { toApiErrorReply } from './messages-api/errors.js'
import { messagesApiRoutes } from './messages-api/routes.js'
import { type Exchange, findRoute } from './router.js'

export interface ServeOptions {
  /** Needs `values` for histories and `stream` for streams. */
  readonly ptc: PtcClient
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0: any free port. */
  readonly port: number
  /**
   * Token that every request must have, except requests for the page: `Authorization: Bearer …`. Undefined: the server
   * listens on this machine only.
   */
  readonly token?: string | undefined
  /** Origins of other web pages that may send requests, such as `https://app.example.com`. */
  readonly origins?: readonly string[]
  /** The names of the models in the configuration. */
  readonly models?: readonly string[]
  /** Receives thrown errors that are not the fault of a client. */
  readonly onError?: (thrown: unknown) => void
}

/** Milliseconds in which a request with its headers must arrive. */
const requestTimeoutMs = 30_000
const headersTimeoutMs = 10_000
/** Milliseconds between two checks of these times. */
const connectionsCheckingInterval = 5_000
/** Longer than proxies keep idle connections (60 s), so that no proxy sends a request on a closing connection. */
const keepAliveTimeoutMs = 75_000
/** Milliseconds in which requests may end when the server closes. Streams end at once. */
const graceMs = 3_000
const maxConnections = 1_000

const routes = [...conversationRoutes, ...approvalRoutes, ...aiSdkRoutes, ...messagesApiRoutes]

/**
 * Starts the server.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is in use
 */
export async function startServer(options: ServeOptions): Promise<ListeningServer> {
  const { host = '127.0.0.1', port, token, origins = [] } = options
  const closing = new AbortController()
  // Each request adds a listener.
  setMaxListeners(0, closing.signal)
  const background = new Set<Promise<unknown>>()
  const goOn = (work: Promise<unknown>): void => {
    background.add(work)
    void work.finally(() => background.delete(work)).catch(() => undefined)
  }
  const access: Access = { token, origins: new Set(origins) }
  const server = createServer({ connectionsCheckingInterval }, (request, response) => {
    answer(request, response, { ...options, access, goOn, closing: closing.signal }).catch(() => response.destroy())
  })
  server.requestTimeout = requestTimeoutMs
  server.headersTimeout = headersTimeoutMs
  server.keepAliveTimeout = keepAliveTimeoutMs
  limitConnections(server, maxConnections)
  const tokenHint = 'Set PTC_SERVE_TOKEN: whoever reaches the server can use the agents. Or leave out --host.'
  const listening = await listen(server, { name: 'the server', host, port, token, tokenHint, graceMs })
  return {
    url: listening.url,
    async close() {
      closing.abort(new Error('the server closes'))
      await listening.close()
      await withTimeLimit(new AbortController().signal, graceMs, (limit) =>
        raceWithSignal(limit, Promise.allSettled(background)),
      ).catch(() => undefined)
    },
  }
}

/**
 * Closes the oldest connection without a request when there are too many. Connections with incomplete requests
 * therefore do not exclude other clients.
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

interface Answering extends Pick<ServeOptions, 'ptc' | 'models' | 'onError'>, Pick<Exchange, 'goOn'> {
  readonly access: Access
  readonly closing: AbortSignal
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { ptc, models = [], onError, access, goOn, closing }: Answering,
): Promise<void> {
  const ended = new AbortController()
  const { signal } = ended
  const endOnClosing = (): void => ended.abort(closing.reason)
  closing.addEventListener('abort', endOnClosing)
  response.once('close', () => {
    closing.removeEventListener('abort', endOnClosing)
    ended.abort(new Error('the client has left'))
  })
  const report = (thrown: unknown): void => {
    if (thrown instanceof HttpError || (PtcError.isInstance(thrown) && toErrorReply(thrown).status < 500)) return
    onError?.(thrown)
  }
  const isMessagesApi = request.url?.startsWith('/v1/') === true
  if (isMessagesApi) response.setHeader('request-id', `req_${randomBytes(12).toString('hex')}`)
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Referrer-Policy', 'no-referrer')
  try {
    checkOrigin(request, response, access)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const { pathname, searchParams: query } = urlOf(request)
    const file = request.method === 'GET' ? pageFile(pathname) : undefined
    if (file) return void response.writeHead(200, file.headers).end(await file.content())
    checkToken(request, response, access)
    const { handler, params } = findRoute(routes, request.method, pathname)
    const reply = await handler({ ptc, models, params, query, request, response, signal, goOn, onError: report })
    if (reply) send(response, reply.status ?? (reply.body === undefined ? 204 : 200), reply.body)
  } catch (thrown) {
    if (response.headersSent) return void response.end()
    if (signal.aborted) return void response.destroy()
    report(thrown)
    const { status, body } = isMessagesApi
      ? toApiErrorReply(thrown, response.getHeader('request-id'))
      : toErrorReply(thrown)
    // The server does not read the rest of a body that is too large.
    if (!request.complete) response.setHeader('Connection', 'close')
    send(response, status, body)
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (body === undefined) return void response.writeHead(status).end()
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`)
}

/** @throws HttpError NOT_FOUND */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const absolute = `http://server${url}`
  if (url.startsWith('/') && URL.canParse(absolute)) return new URL(absolute)
  throw new HttpError('NOT_FOUND', 'the request has no path')
}
