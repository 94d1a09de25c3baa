import type { ServerResponse } from 'node:http'
import { writeTo } from './write-to.js'

/** Proxies close connections without data after a minute. */
const heartbeatMs = 15_000

/** An event of Server-Sent Events. Its data are JSON, which has no line breaks. */
export function encodeEvent(data: unknown, id?: string, event?: string): string {
  const idLine = id === undefined ? '' : `id: ${id.replaceAll(/[\r\n\0]/g, '')}\n`
  const eventLine = event === undefined ? '' : `event: ${event}\n`
  return `${idLine}${eventLine}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** A response of Server-Sent Events (invariants 4, 5). */
export class EventStream implements Disposable {
  readonly #response: ServerResponse
  readonly #signal: AbortSignal
  readonly #heartbeat: NodeJS.Timeout

  /** @param signal aborted when the client has left, or the server closes */
  constructor(response: ServerResponse, signal: AbortSignal, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response
    this.#signal = signal
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no', // otherwise nginx buffers events
      ...headers,
    })
    response.flushHeaders()
    this.#heartbeat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': heartbeat\n\n')
    }, heartbeatMs)
  }

  /**
   * Sends an event. Waits for a slow client.
   *
   * @param data a text is sent unchanged
   * @param event the type of the event; default: `message`
   * @throws the signal's reason; an error for a client that does not read
   */
  async send(data: unknown, id?: string, event?: string): Promise<void> {
    await writeTo(this.#response, encodeEvent(data, id, event), this.#signal)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#heartbeat)
    this.#response.end()
  }
}
