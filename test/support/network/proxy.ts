import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createServer as createTlsServer, connect as connectTls } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { NetworkTarget } from '../../../src/common/run/network.js'
import type { Resolve } from '../../../src/network/resolve-host.js'
import { EgressProxy } from '../../../src/sandbox/network/egress-proxy.js'
import { accessTo, type AccessOptions } from './access.js'
import type { Certificate } from './certificates.js'

interface ProxyOptions extends AccessOptions {
  readonly resolve: Resolve
  readonly ca?: string
}

/** A proxy that real clients reach by TCP. */
export async function startProxy(allow: readonly NetworkTarget[], { resolve, ca, ...options }: ProxyOptions) {
  const access = accessTo(allow, options)
  const proxy = new EgressProxy({ resolve, ca })
  proxy.use(access)
  const port = await listen(createServer({ allowHalfOpen: true }, (socket) => proxy.accept(socket)))
  return { port, url: `http://127.0.0.1:${port}`, access, proxy }
}

/** Listens until the end of the test. Returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A server of TLS that says which name each client asked for, and repeats what it reads. */
export async function startTlsServer({ cert, key }: Certificate) {
  const names: (string | false | null)[] = []
  const server = createTlsServer({ cert, key }, (socket: TLSSocket) => {
    names.push(socket.servername)
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  return { port: await listen(server), names }
}

export interface Reply {
  readonly status: number
  readonly reason: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Sends a plain request by a proxy. */
export function fetchBy(
  proxyPort: number,
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url)
    const options = {
      host: '127.0.0.1',
      port: proxyPort,
      method,
      path: url,
      headers: { host, ...headers },
      agent: false,
    }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, statusMessage: reason = '', headers: received } = response
        resolve({ status, reason, headers: received, body: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Sends bytes to a port, and returns all that comes back. */
export async function exchangeBytes(port: number, ...parts: readonly (string | Buffer)[]): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const ended = once(socket, 'end').catch(() => undefined)
  for (const part of parts) socket.write(part)
  await ended
  socket.destroy()
  return Buffer.concat(chunks)
}

/** Opens a tunnel, and TLS in it. */
export async function connectBy(
  proxyPort: number,
  authority: string,
  { servername, ca }: { readonly servername?: string | undefined; readonly ca: string },
): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: proxyPort })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString().startsWith('HTTP/1.1 200 ')) throw new Error(head.toString())
  const secured = connectTls({
    socket,
    ca,
    servername,
    ...(servername === undefined && { checkServerIdentity: () => undefined }),
  })
  await once(secured, 'secureConnect')
  return secured
}
