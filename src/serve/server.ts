import { PtcError } from '../common/errors.js'
import { raceWithTimeLimit } from '../common/async/abort.js'
import type { PtcClient } from '../client/index.js'
import { checkToken, graceMs, HttpError, type HttpExchange, type HttpServer, startHttpServer } from '../http/index.js'
import { aiSdkRoutes } from './ai-sdk/routes.js'
import { approvalRoutes } from './approvals.js'
import { conversationRoutes } from './conversations.js'
import type { McpEndpoint } from './mcp/index.js'
import { toErrorReply } from './errors.js'
import { isMessagesApi, requestIdOf, toApiErrorReply } from './messages-api/errors.js'
import { messagesApiRoutes } from './messages-api/routes.js'
import { pageFile } from './page/index.js'
import { fileRoutes } from './files.js'
import { findRoute } from './router.js'

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
  /** Serves MCP at `/mcp`. Undefined: the server does not. The server closes it. */
  readonly mcp?: McpEndpoint | undefined
}

const routes = [...conversationRoutes, ...fileRoutes, ...approvalRoutes, ...aiSdkRoutes, ...messagesApiRoutes]

/**
 * Starts the server.
 *
 * @throws PtcError CONFIG_INVALID when it would listen beyond this machine without a token, or its port is in use
 */
export async function startServer(options: ServeOptions): Promise<HttpServer> {
  const { ptc, models = [], token, origins = [], mcp } = options
  const background = new Set<Promise<unknown>>()
  const waitUntil = (work: Promise<unknown>): void => {
    background.add(work)
    void work.finally(() => background.delete(work)).catch(() => undefined)
  }
  const onError = (thrown: unknown): void => {
    if (thrown instanceof HttpError || (PtcError.isInstance(thrown) && toErrorReply(thrown).status < 500)) return
    options.onError?.(thrown)
  }
  const respond = async (exchange: HttpExchange): Promise<void> => {
    const { request, response, url } = exchange
    if (isMessagesApi(request)) requestIdOf(response)
    const file = request.method === 'GET' ? pageFile(url.pathname) : undefined
    if (file) return void response.writeHead(200, file.headers).end(await file.content())
    checkToken(request, response, token) // invariant 1
    if (mcp && url.pathname === '/mcp') return mcp.respond(request, response)
    const { handler, params } = findRoute(routes, request.method, url.pathname)
    const reply = await handler({ ...exchange, ptc, models, params, waitUntil, onError })
    if (reply) send(response, reply.status ?? (reply.body === undefined ? 204 : 200), reply.body)
  }
  const server = await startHttpServer({
    ...options,
    name: 'the server',
    token,
    tokenHint: 'Set PTC_SERVE_TOKEN: every client that reaches the server can use the agents. Or leave out --host.',
    origins: new Set(origins),
    respond,
    respondToError(thrown, request, response) {
      onError(thrown)
      const reply = isMessagesApi(request) ? toApiErrorReply(thrown, requestIdOf(response)) : toErrorReply(thrown)
      send(response, reply.status, reply.body)
    },
  })
  return {
    url: server.url,
    async close() {
      await mcp?.close()
      await server.close()
      await raceWithTimeLimit(undefined, graceMs, () => Promise.allSettled(background)).catch(() => undefined)
    },
  }
}

function send(response: HttpExchange['response'], status: number, body: unknown): void {
  if (body === undefined) return void response.writeHead(status).end()
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`)
}
