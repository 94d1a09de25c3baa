import type { JSONRPCMessage } from '@modelcontextprotocol/client'

/** Parses a line. It is from the SDK, which is loaded when a configuration has a server. */
export type ParseMessage = (line: string) => JSONRPCMessage

/** Bytes of one message. A larger one ends the connection. */
export const maxMessageBytes = 16 * 1024 * 1024

interface MessageReaderOptions {
  readonly parse: ParseMessage
  readonly onMessage: (message: JSONRPCMessage) => void
  /** Gets the lines that are no message. */
  readonly onLine: (line: string) => void
}

/** Reads messages from the standard output of a server. Some servers write banners and logs there. */
export class MessageReader {
  readonly #options: MessageReaderOptions
  readonly #lines = new LineSplitter(maxMessageBytes)

  constructor(options: MessageReaderOptions) {
    this.#options = options
  }

  /** @throws Error for a line over the maximum */
  read(chunk: Buffer): void {
    for (const line of this.#lines.split(chunk)) this.#receive(line)
  }

  #receive(line: string): void {
    const { parse, onMessage, onLine } = this.#options
    if (!line.startsWith('{')) return onLine(line)
    let message: JSONRPCMessage
    try {
      message = parse(line)
    } catch {
      return onLine(line)
    }
    onMessage(message)
  }
}

/** Splits bytes into lines. Each byte is looked at once. */
class LineSplitter {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @throws Error for a line over the maximum */
  *split(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#add(chunk.subarray(start, end))
      const line = Buffer.concat(this.#parts).toString('utf8').trim()
      this.#parts = []
      this.#bytes = 0
      start = end + 1
      if (line !== '') yield line
    }
    this.#add(chunk.subarray(start))
  }

  #add(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes > this.#maxBytes) throw new Error(`the server sent a message of over ${this.#maxBytes} bytes`)
    if (part.length > 0) this.#parts.push(part)
  }
}

const lineFeed = 10
