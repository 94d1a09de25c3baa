import { Duplex } from 'node:stream'
import { networkDataBytes, networkWindowBytes, type RunnerNetworkMessage } from '../protocol/messages.js'

/** A message of a connection, without what identifies the connection. */
export type ConnectionMessage =
  | { readonly kind: 'end' | 'close' }
  | { readonly kind: 'data'; readonly text: string }
  | { readonly kind: 'window'; readonly bytes: number }

interface TunnelStreamOptions {
  /** Settles when the connection to the sandbox has room for more. Never rejects. */
  readonly send: (message: ConnectionMessage) => Promise<unknown>
  readonly onClose: () => void
}

/**
 * A connection of a program in a sandbox, as a stream of bytes: what it reads is what the program writes.
 *
 * Each direction has a window (`networkWindowBytes`), so the memory that a connection needs is bounded, and a side that
 * does not read stops only its own connection. A program that sends more than its window loses its connection.
 */
export class TunnelStream extends Duplex {
  readonly #options: TunnelStreamOptions
  /** Bytes that may be sent to the program. */
  #credit = networkWindowBytes
  #waiting: (() => void) | undefined
  /** Bytes of the program that this side has room for. */
  #window = networkWindowBytes
  /** Bytes of the program since the last message `window`. */
  #received = 0
  #hasEnded = { program: false, worker: false }
  #isClosedByProgram = false

  constructor(options: TunnelStreamOptions) {
    super({ allowHalfOpen: true, highWaterMark: networkWindowBytes / 2 })
    this.#options = options
  }

  /** Handles a message of the sandbox. */
  receive(message: RunnerNetworkMessage): void {
    switch (message.kind) {
      case 'open':
      case 'close':
        this.#isClosedByProgram = true
        this.destroy()
        return
      case 'window':
        this.#credit = Math.min(this.#credit + message.bytes, networkWindowBytes)
        this.#waiting?.()
        return
      case 'end':
        this.#hasEnded.program = true
        this.push(null)
        return
      case 'data': {
        const bytes = Buffer.from(message.text, 'base64')
        this.#window -= bytes.length
        if (this.#window < 0 || this.#hasEnded.program) return void this.destroy()
        this.#received += bytes.length
        this.push(bytes)
      }
    }
  }

  /** Called when the reader has room: then the program may send again what it has sent. */
  override _read(): void {
    if (this.#received === 0) return
    const bytes = this.#received
    this.#received = 0
    this.#window += bytes
    void this.#options.send({ kind: 'window', bytes })
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    void this.#sendBytes(chunk, done)
  }

  override _final(done: () => void): void {
    this.#hasEnded.worker = true
    void this.#sendEnd(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#waiting?.()
    const { program, worker } = this.#hasEnded
    if (!this.#isClosedByProgram && !(program && worker)) void this.#options.send({ kind: 'close' })
    this.#options.onClose()
    done(error)
  }

  async #sendBytes(chunk: Buffer, done: () => void): Promise<void> {
    for (let start = 0; start < chunk.length && !this.destroyed;) {
      if (this.#credit === 0) {
        await new Promise<void>((resolve) => (this.#waiting = resolve))
        continue
      }
      const piece = chunk.subarray(start, start + Math.min(this.#credit, networkDataBytes))
      start += piece.length
      this.#credit -= piece.length
      await this.#options.send({ kind: 'data', text: piece.toString('base64') })
    }
    done()
  }

  async #sendEnd(done: () => void): Promise<void> {
    await this.#options.send({ kind: 'end' })
    done()
  }
}
