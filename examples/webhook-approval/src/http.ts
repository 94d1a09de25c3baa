import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Listens on PORT, and returns the URL. */
export async function listen(server: Server, defaultPort: number): Promise<string> {
  server.listen(Number(process.env['PORT'] ?? defaultPort), '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function readBody(request: IncomingMessage): Promise<Buffer> {
  return buffer(request)
}
