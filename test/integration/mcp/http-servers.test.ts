import { randomUUID } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'

/** A server of the official SDK (the generation before ours), by HTTP. */
class HttpServer {
  readonly executed: string[] = []
  /** Number of sessions that were opened. */
  sessions = 0
  readonly authorizations = new Set<string | undefined>()
  readonly #transports = new Map<string, StreamableHTTPServerTransport>()
  readonly #http = createHttpServer((request, response) => void this.#handle(request, response))
  /** Answers in place of the server. Returns whether it did. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => this.stop())
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`
  }

  stop(): void {
    this.#http.closeAllConnections()
    this.#http.close()
  }

  /** A restarted server knows no session. */
  forgetSessions(): void {
    this.#transports.clear()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.authorizations.add(request.headers.authorization)
    if (this.intercept(request, response)) return
    const id = request.headers['mcp-session-id']
    if (id !== undefined) {
      const transport = this.#transports.get(String(id))
      if (transport) await transport.handleRequest(request, response)
      else
        response.writeHead(404).end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
      return
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => {
        this.sessions += 1
        this.#transports.set(session, transport)
      },
    })
    await this.#server().connect(transport)
    await transport.handleRequest(request, response)
  }

  #server(): McpServer {
    const server = new McpServer({ name: 'books', version: '1' })
    const inputSchema = { id: z.string() }
    server.registerTool('write', { description: 'Writes.', inputSchema }, ({ id }) => {
      this.executed.push(id)
      if (id === 'drops') this.#http.closeAllConnections()
      return { content: [{ type: 'text' as const, text: id === 'huge' ? 'x'.repeat(50_000_000) : `wrote ${id}` }] }
    })
    return server
  }
}

async function open(url: string, options: Readonly<Record<string, unknown>> = {}, credentials = new Credentials()) {
  const { tools, close } = await listMcpTools('books', { url, ...options }, { credentials })
  onTestFinished(close)
  return { tools, call: (id: string) => callMcpTool(tools, 'books__write', { id }) }
}

it('calls the tools of a server by HTTP, with a credential in a header of each request', async () => {
  vi.stubEnv('TOKEN_OF_TEST', 'the-token-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const server = new HttpServer()
  const credentials = new Credentials({ token: { environment: 'TOKEN_OF_TEST' } })
  const url = await server.start()
  const { call, tools } = await open(url, { headers: { Authorization: 'Bearer ${token}' } }, credentials)
  expect(tools.map(({ name, credentials: names }) => ({ name, names }))).toEqual([
    { name: 'books__write', names: ['token'] },
  ])
  expect(await call('a')).toBe('wrote a')
  expect([...server.authorizations]).toEqual(['Bearer the-token-of-the-test'])
})

it('a call after a restart of the server works, and is executed once', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  server.forgetSessions()
  await vi.waitFor(async () => expect(await call('b')).toBe('wrote b'), { timeout: 30_000 })
  expect(server.executed).toEqual(['b'])
})

it('a call whose connection ends after it was executed is not sent again', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  await expect(call('drops')).rejects.toThrow()
  expect(server.executed).toEqual(['drops'])
  await vi.waitFor(async () => expect(await call('c')).toBe('wrote c'), { timeout: 30_000 })
  expect(server.executed).toEqual(['drops', 'c'])
})

it('calls together after a restart of the server open one session, and each is executed once', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  const before = server.sessions
  server.forgetSessions()
  const ids = ['1', '2', '3', '4', '5']
  expect(await Promise.all(ids.map(call))).toEqual(ids.map((id) => `wrote ${id}`))
  expect([...server.executed].sort()).toEqual(ids)
  expect(server.sessions - before).toBe(1)
})

it('a call that the server executes and answers with status 503 is not sent again', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  const calls: unknown[] = []
  server.intercept = (request, response) => {
    if (request.method !== 'POST') return false
    calls.push('received')
    response.writeHead(503, { 'retry-after': '0' }).end('{"error":"overloaded"}')
    return true
  }
  await expect(call('e')).rejects.not.toMatchObject({ name: 'ToolError' })
  expect(calls).toEqual(['received'])
})

it('a result whose bytes come one by one has its characters', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  server.intercept = (request, response) => {
    if (request.method !== 'POST') return false
    void answerInBytes(request, response, '🎉é')
    return true
  }
  expect(await call('f')).toBe('🎉é')
})

/** Answers a request with a text as an event, of which each byte is a write of its own. */
async function answerInBytes(request: IncomingMessage, response: ServerResponse, value: string): Promise<void> {
  const { id } = (await json(request)) as { readonly id: number }
  const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: value }] } }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.socket?.setNoDelay(true)
  for (const byte of Buffer.from(`event: message\ndata: ${JSON.stringify(message)}\n\n`)) {
    response.write(Buffer.of(byte))
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}

it('a result of 50 MB fails its call, and the next call works', async () => {
  const server = new HttpServer()
  const { call } = await open(await server.start())
  await expect(call('huge')).rejects.toThrow('over 16777216 bytes')
  await vi.waitFor(async () => expect(await call('d')).toBe('wrote d'), { timeout: 30_000 })
})

it.each([
  [401, 'books did not list its tools'],
  [503, 'books did not list its tools'],
])('a worker does not start when the server answers %s, and names the server', async (status, message) => {
  const server = new HttpServer()
  const url = await server.start()
  server.intercept = (_request, response) => {
    response.writeHead(status).end('not now')
    return true
  }
  await expect(open(url)).rejects.toMatchObject({
    code: 'TOOL_SOURCE_FAILED',
    message: expect.stringContaining(message),
  })
})

it('does not follow a redirect to another host', async () => {
  const server = new HttpServer()
  const other = new HttpServer()
  const url = await server.start()
  const target = await other.start()
  server.intercept = (_request, response) => {
    response.writeHead(307, { location: target }).end()
    return true
  }
  await expect(open(url, { headers: { Authorization: 'secret' } })).rejects.toMatchObject({
    code: 'TOOL_SOURCE_FAILED',
  })
  expect([...other.authorizations]).toEqual([])
})
