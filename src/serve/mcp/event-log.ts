import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

interface LoggedEvent {
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly bytes: number
}

/** Events that a client may have missed. Older ones are dropped: their results can be waited for again. */
const maxEvents = 500
const maxBytes = 512 * 1024

/**
 * The latest events of one connection, for a client that lost its connection: it gets the events of the same stream
 * after the last one that it has seen.
 */
export class EventLog implements EventStore {
  readonly #events = new Map<string, LoggedEvent>()
  #lastId = 0
  #bytes = 0

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#lastId += 1
    const id = String(this.#lastId)
    const bytes = JSON.stringify(message).length
    this.#events.set(id, { stream, message, bytes })
    this.#bytes += bytes
    for (const [oldest, event] of this.#events) {
      if (oldest === id || (this.#events.size <= maxEvents && this.#bytes <= maxBytes)) break
      this.#events.delete(oldest)
      this.#bytes -= event.bytes
    }
    return Promise.resolve(id)
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.get(id)?.stream)
  }

  /** @throws Error when the event is unknown */
  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = this.#events.get(lastId)
    if (!last) throw new Error('the event is unknown')
    const later = [...this.#events].filter(([id, { stream }]) => Number(id) > Number(lastId) && stream === last.stream)
    for (const [id, { message }] of later) await send(id, message)
    return last.stream
  }
}
