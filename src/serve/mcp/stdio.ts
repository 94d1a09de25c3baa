import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { McpHost } from './host.js'
import { createServer } from './server.js'

export interface StdioOptions {
  readonly host: McpHost
  readonly input: Readable
  readonly output: Writable
}

export interface StdioConnection {
  /** Resolves when the client has closed its end. */
  readonly closed: Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}

/** Larger messages end the connection. */
const maxMessageBytes = 8 * 1024 * 1024

/** Serves one client. */
export function serveMcpOnStdio({ host, input, output }: StdioOptions): StdioConnection {
  const closing = new AbortController()
  const transport = new StdioServerTransport(input, output, { maxBufferSize: maxMessageBytes })
  const connection = serveStdio(createServer(host, closing.signal), { transport, onerror: host.onError })
  const closed = new Promise<void>((resolve) => {
    input.once('end', resolve).once('close', resolve)
    output.once('close', resolve)
  })
  return {
    closed,
    async close() {
      closing.abort()
      await connection.close()
    },
  }
}
