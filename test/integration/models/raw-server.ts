import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ReceivedRequest {
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface RawServer {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  close(): Promise<void>
}

/** A real HTTP server that sends exactly the bytes that a test defines. */
export async function startRawServer(
  respond: (response: ServerResponse, request: ReceivedRequest) => unknown,
): Promise<RawServer> {
  const requests: ReceivedRequest[] = []
  const server = createServer((incoming, response) => {
    void (async () => {
      const body = JSON.parse(await text(incoming)) as Record<string, unknown>
      const request = { url: incoming.url ?? '', headers: incoming.headers, body }
      requests.push(request)
      await respond(response, request)
    })()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

/** A server-sent event in the format of the API. */
export function event(data: { readonly type: string } & Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

export function startStream(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_1', ...headers })
}

export const messageStart = event({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, cache_creation_input_tokens: 300, cache_read_input_tokens: 4000, output_tokens: 1 },
  },
})

export function block(
  index: number,
  content_block: { readonly type: string } & Record<string, unknown>,
  ...deltas: readonly object[]
): string {
  return [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('')
}

export function messageEnd(stop_reason: string, output_tokens = 20): string {
  return (
    event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } }) +
    event({ type: 'message_stop' })
  )
}

/** The event with which the API starts a text block. */
export const emptyText = { type: 'text', text: '' }

export const helloReply =
  messageStart + block(0, emptyText, { type: 'text_delta', text: 'Hello' }) + messageEnd('end_turn')
