import { Readable, type Duplex } from 'node:stream'
import { crashPoint } from '../../common/crash-point.js'
import { PtcError } from '../../common/errors.js'
import type { SandboxConnection, SandboxEnd } from '../backend.js'
import { Demultiplexer } from './demultiplexer.js'
import { findEnd, hintOf } from './end.js'
import type { DockerEngine } from './engine.js'
import { Tail } from '../tail.js'

export interface DockerConnectionOptions {
  readonly engine: DockerEngine
  /** Container id. */
  readonly container: string
  /** The attach stream; nobody has read from it yet. */
  readonly socket: Duplex
  readonly description: string
  /** Milliseconds the sandbox may take to read what one `send` gives it. */
  readonly sendMs: number
}

/** Bytes of the runner that may wait to be read here before the sandbox is made to wait. */
const receiveBufferBytes = 1024 * 1024

const diagnosticBytes = 8 * 1024

/** User code does not get the real stderr: what floods it is no crash message. */
const maxDiagnosticBytes = 8 * 1024 * 1024

/** A running container, attached to. Lives until the container or the connection ends. */
export class DockerConnection implements SandboxConnection {
  readonly description: string
  readonly received: Readable
  readonly ended: Promise<SandboxEnd>
  readonly #engine: DockerEngine
  readonly #container: string
  readonly #socket: Duplex
  readonly #sendMs: number
  readonly #demultiplexer = new Demultiplexer()
  readonly #diagnostics = new Tail(diagnosticBytes)
  readonly #over = new AbortController()
  #killed = false

  constructor({ engine, container, socket, description, sendMs }: DockerConnectionOptions) {
    this.description = description
    this.#engine = engine
    this.#container = container
    this.#socket = socket
    this.#sendMs = sendMs
    this.received = new Readable({
      highWaterMark: receiveBufferBytes,
      read: () => void socket.resume(),
      destroy: (error, done) => {
        // Whoever stops reading has stopped listening: without this, the end of the stream would never be seen.
        socket.resume()
        done(error)
      },
    })
    // The error is for the reader; before one comes it must not end the process.
    this.received.on('error', () => {})
    const streamClosed = new Promise<void>((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.once('end', () => this.#endReceived())
    socket.once('close', () => this.#endReceived())
    socket.on('data', (chunk: Uint8Array) => this.#take(chunk))
    this.ended = this.#watch(streamClosed)
    // A socket that closed before we listened has no more events.
    if (socket.destroyed) socket.emit('close')
  }

  async send(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const what = `the sandbox did not read ${bytes.length} bytes within ${this.#sendMs} ms`
        reject(new PtcError('SANDBOX_PROTOCOL', what))
        // Half a message is with it: nothing that follows could be understood.
        this.#socket.destroy()
      }, this.#sendMs)
      this.#socket.write(bytes, (cause) => {
        clearTimeout(timer)
        if (cause === null || cause === undefined) {
          crashPoint('frame.sent')
          return resolve()
        }
        reject(new PtcError('SANDBOX_LOST', 'the connection to the sandbox is over', { cause }))
      })
    })
  }

  async interrupt(): Promise<boolean> {
    return this.#engine.kill(this.#container, 'SIGINT')
  }

  async kill(): Promise<void> {
    this.#killed = true
    try {
      await this.#engine.kill(this.#container, 'SIGKILL')
    } catch (error) {
      // The daemon does not answer: at least `ended` settles.
      this.#socket.destroy()
      throw error
    }
  }

  async detach(): Promise<void> {
    this.#over.abort()
    this.#socket.destroy()
    await this.ended
  }

  #take(chunk: Uint8Array): void {
    try {
      const { stdout, stderr } = this.#demultiplexer.push(chunk)
      this.#diagnostics.push(stderr)
      if (this.#diagnostics.total > maxDiagnosticBytes) {
        throw new PtcError('SANDBOX_PROTOCOL', `the sandbox wrote more than ${maxDiagnosticBytes} bytes to stderr`)
      }
      if (stdout.length === 0 || this.received.destroyed || this.received.readableEnded) return
      if (!this.received.push(stdout)) this.#socket.pause()
    } catch (error) {
      this.received.destroy(error instanceof Error ? error : new Error(String(error)))
      this.#socket.destroy()
    }
  }

  #endReceived(): void {
    if (!this.received.destroyed) this.received.push(null)
  }

  async #watch(streamClosed: Promise<void>): Promise<SandboxEnd> {
    const signal = this.#over.signal
    const end = await findEnd({ engine: this.#engine, container: this.#container, streamClosed, signal })
    this.#over.abort()
    // A daemon that vanished does not close its end.
    if (end.reason === 'disconnected') this.#socket.destroy()
    return {
      // Our own SIGKILL looks the same as the kernel's when some child ran out of memory before.
      reason: this.#killed && end.reason === 'out_of_memory' ? 'exited' : end.reason,
      exitCode: end.exitCode,
      diagnostics: `${this.#diagnostics.toString()}\n${hintOf(end)}`.trim(),
    }
  }
}
