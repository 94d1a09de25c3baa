import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A request as the server got it. */
export interface RecordedRequest {
  readonly method: string
  /** Path and query, as they were sent. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Answer = (request: RecordedRequest, response: ServerResponse) => void

const emptyObject: Answer = (_, response) => void response.setHeader('content-type', 'application/json').end('{}')

/** An HTTP server that records all requests. It ends with the test. */
export class RecordingServer {
  readonly requests: RecordedRequest[] = []
  /** Base URL. */
  readonly url: string
  answer: Answer

  private constructor(url: string, answer: Answer) {
    this.url = url
    this.answer = answer
  }

  static async start(answer: Answer = emptyObject): Promise<RecordingServer> {
    const server = createServer((request, response) => {
      void text(request).then(
        (body) => {
          const recorded = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
          started.requests.push(recorded)
          return started.answer(recorded, response)
        },
        () => undefined, // the client has ended the connection
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const started = new RecordingServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, answer)
    return started
  }

  get last(): RecordedRequest {
    const last = this.requests.at(-1)
    if (last === undefined) throw new Error('the server got no request')
    return last
  }
}
