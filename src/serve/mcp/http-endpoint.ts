import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { readJson } from '../../http/index.js'
import { EventLog } from './event-log.js'
import type { McpHost } from './host.js'
import { createServer } from './server.js'

/** The requests that a server of Node gets have these members. */
type ServerRequest = IncomingMessage & { readonly method: string; readonly url: string }

/** The path `/mcp` of an HTTP server. */
export interface McpEndpoint {
  /** Responds to a request that has access. @throws HttpError BODY_TOO_LARGE and others of `readJson` */
  respond(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Ends the connections. Work continues. Idempotent. */
  close(): Promise<void>
}

/**
 * Connections of the protocol of 2025. A client starts a new one when its connection is unknown, so the least recently
 * used one may be closed.
 */
const maxSessions = 500

const bodyLimits = { bytes: 4 * 1024 * 1024, structuralBytes: 1024 * 1024, depth: 200 } as const

/** Serves MCP over Streamable HTTP. */
export function openMcpEndpoint(host: McpHost): McpEndpoint {
  const closing = new AbortController()
  const factory = createServer(host, closing.signal)
  const modern = createMcpHandler(factory, { legacy: 'reject', onerror: host.onError })
  const sessions = new HttpSessions(factory, host.onError)
  const fetch = async (request: Request, options?: { readonly parsedBody?: unknown }): Promise<Response> => {
    const isLegacy = await isLegacyRequest(request, options?.parsedBody)
    return isLegacy ? sessions.respond(request, options) : modern.fetch(request, options)
  }
  const handle = toNodeHandler({ fetch }, { onerror: host.onError })
  return {
    async respond(request, response) {
      const parsedBody = request.method === 'POST' ? await readJson(request, bodyLimits) : undefined
      await handle(request as ServerRequest, response, parsedBody)
    },
    async close() {
      closing.abort()
      await Promise.all([modern.close(), sessions.close()])
    },
  }
}

/** The connections of the protocol of 2025, by the id that the server gave each of them; the latest use is last. */
class HttpSessions {
  readonly #factory: McpServerFactory
  readonly #onError: (thrown: unknown) => void
  readonly #transports = new Map<string, WebStandardStreamableHTTPServerTransport>()

  constructor(factory: McpServerFactory, onError: (thrown: unknown) => void) {
    this.#factory = factory
    this.#onError = onError
  }

  async respond(request: Request, options?: { readonly parsedBody?: unknown }): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return (await this.#open()).handleRequest(request, options)
    const transport = this.#transports.get(id)
    if (!transport) return unknownSession()
    this.#transports.delete(id)
    this.#transports.set(id, transport)
    return transport.handleRequest(request, options)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()))
  }

  /** Opens a connection. It is kept when its first request is `initialize`; the SDK refuses any other one. */
  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventLog(),
      onsessioninitialized: (id) => this.#keep(id, transport),
      onsessionclosed: (id) => void this.#transports.delete(id),
    })
    const server = await this.#factory({ era: 'legacy' })
    await server.connect(transport)
    return transport
  }

  #keep(id: string, transport: WebStandardStreamableHTTPServerTransport): void {
    this.#transports.set(id, transport)
    const [oldest] = this.#transports
    if (this.#transports.size <= maxSessions || !oldest) return
    this.#transports.delete(oldest[0])
    oldest[1].close().catch(this.#onError)
  }
}

/** The client then initializes a new connection. */
function unknownSession(): Response {
  const error = { code: -32_001, message: 'Session not found' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 })
}
