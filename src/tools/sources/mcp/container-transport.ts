import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { MessageReader, type ParseMessage } from './message-reader.js'

/** A server in a container, by its standard input and output. */
export interface ServerContainer {
  send(bytes: Uint8Array): Promise<void>
  readonly received: AsyncIterable<Uint8Array>
  /** Settles when the container has ended, or its connection. Never rejects. */
  readonly ended: Promise<{ readonly diagnostics: string }>
  kill(): Promise<void>
}

export interface ContainerProgram {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Starts a server in a container, which ends with this process. */
export type OpenContainer = (program: ContainerProgram, signal: AbortSignal) => Promise<ServerContainer>

interface ContainerTransportOptions {
  readonly open: () => Promise<ServerContainer>
  /** Gets the end of what the server writes to stderr, and what is no message on stdout. */
  readonly onLine: (line: string) => void
}

/** The standard input and output of a server in a container. */
export class ContainerTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ContainerTransportOptions
  readonly #parse: ParseMessage
  #container: ServerContainer | undefined
  #closing: Promise<void> | undefined

  constructor(options: ContainerTransportOptions, parse: ParseMessage) {
    this.#options = options
    this.#parse = parse
  }

  async start(): Promise<void> {
    const container = await this.#options.open()
    if (this.#closing) {
      await container.kill()
      throw new Error('the connection was closed before the server had started')
    }
    this.#container = container
    void this.#receive(container)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#container || this.#closing) throw new Error('the server is not running')
    await this.#container.send(Buffer.from(`${JSON.stringify(message)}\n`))
  }

  close(): Promise<void> {
    this.#closing ??= this.#end().finally(() => this.onclose?.())
    return this.#closing
  }

  async #receive(container: ServerContainer): Promise<void> {
    const reader = new MessageReader({
      parse: this.#parse,
      onMessage: (message) => this.onmessage?.(message),
      onLine: this.#options.onLine,
    })
    try {
      for await (const chunk of container.received) reader.read(Buffer.from(chunk))
    } catch (thrown) {
      this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
    await this.close()
  }

  async #end(): Promise<void> {
    const container = this.#container
    if (!container) return
    // The server holds nothing that it could save: its root is read-only.
    await container.kill().catch(() => undefined)
    const { diagnostics } = await container.ended
    for (const line of diagnostics.split('\n')) if (line.trim() !== '') this.#options.onLine(line)
  }
}
