import type { Duplex } from 'node:stream'
import { type Fence, isSameFence, type NetworkMessage, type RunnerNetworkMessage } from '../protocol/messages.js'
import { type ConnectionMessage, TunnelStream } from './tunnel-stream.js'

/** Maximum connections of a sandbox at a time. Its runner has the same limit. */
export const maxConnections = 64

interface TunnelOptions {
  /** Settles when the connection to the sandbox has room for more. Never rejects. */
  readonly send: (message: NetworkMessage) => Promise<unknown>
  readonly onConnection: (connection: Duplex) => void
}

/**
 * The connections of the programs of one sandbox, over one attachment to it. Messages that do not fit are ignored, or
 * end their own connection.
 */
export class Tunnel {
  readonly #options: TunnelOptions
  readonly #connections = new Map<number, TunnelStream>()
  #fence: Fence | undefined
  /** The highest number so far: the runner numbers its connections in order. */
  #lastNumber = 0

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** Called when the worker says hello: from then on, the sandbox sends its connections with this fence. */
  start(fence: Fence): void {
    this.close()
    this.#fence = fence
  }

  /** Handles a message of the sandbox, which is not trusted. */
  receive(message: RunnerNetworkMessage): void {
    const { fence, connection: number, kind } = message
    // Another worker is attached, too, and the message is for it.
    if (this.#fence === undefined || !isSameFence(this.#fence, fence)) return
    if (kind === 'open' && !this.#connections.has(number)) return this.#open(this.#fence, number)
    this.#connections.get(number)?.receive(message)
  }

  /** Resets all connections. */
  close(): void {
    this.#fence = undefined
    for (const connection of this.#connections.values()) connection.destroy()
  }

  #open(fence: Fence, number: number): void {
    const send = async (message: ConnectionMessage): Promise<unknown> =>
      this.#fence === fence && this.#options.send({ type: 'network', fence, connection: number, ...message })
    if (number <= this.#lastNumber || this.#connections.size >= maxConnections) return void send({ kind: 'close' })
    this.#lastNumber = number
    const connection = new TunnelStream({ send, onClose: () => this.#connections.delete(number) })
    // Who reads and writes it learns of its end.
    connection.on('error', () => undefined)
    this.#connections.set(number, connection)
    this.#options.onConnection(connection)
  }
}
