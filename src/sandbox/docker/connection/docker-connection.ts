import { Readable, type Duplex } from 'node:stream'
import { failpoint } from '../../../common/failpoint.js'
import { PtcError } from '../../../common/errors.js'
import type { SandboxConnection, SandboxEnd } from '../../backend.js'
import { Demultiplexer } from './demultiplexer.js'
import { awaitContainerExit, oomDiagnostic } from './container-exit.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { DiagnosticsBuffer } from '../../diagnostics-buffer.js'

interface DockerConnectionOptions {
  readonly engine: DockerEngine
  /** Container id. */
  readonly container: string
  /** The id of the image of the container. */
  readonly image: string
  /** The attach stream, unread. */
  readonly socket: Duplex
  /** Milliseconds that the sandbox may take to read the bytes of one `send`. */
  readonly sendTimeoutMs: number
}

/**
 * Maximum bytes that are buffered for the reader. Above this limit the socket is paused, and the sandbox has to wait.
 */
const receiveBufferBytes = 1024 * 1024

/** The connection to a running container. It ends with the container, or when the attach stream breaks. */
export class DockerConnection implements SandboxConnection {
  readonly description: string
  readonly image: string
  readonly received: Readable
  readonly ended: Promise<SandboxEnd>
  readonly #engine: DockerEngine
  readonly #container: string
  readonly #socket: Duplex
  readonly #sendTimeoutMs: number
  readonly #demultiplexer = new Demultiplexer()
  readonly #diagnostics = new DiagnosticsBuffer()
  readonly #closing = new AbortController()
  #killed = false

  constructor({ engine, container, image, socket, sendTimeoutMs }: DockerConnectionOptions) {
    this.description = `docker container ${container.slice(0, 12)}, image ${image.replace('sha256:', '').slice(0, 12)}`
    this.image = image
    this.#engine = engine
    this.#container = container
    this.#socket = socket
    this.#sendTimeoutMs = sendTimeoutMs
    this.received = new Readable({
      highWaterMark: receiveBufferBytes,
      read: () => void socket.resume(),
      destroy: (error, done) => {
        // Keep the socket flowing, or its end event never fires.
        socket.resume()
        done(error)
      },
    })
    // The error reaches the reader through iteration. Without a listener it would end the process.
    this.received.on('error', () => {})
    const streamClosed = new Promise<void>((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.once('end', () => this.#endReceived())
    socket.once('close', () => this.#endReceived())
    socket.on('data', (chunk: Uint8Array) => this.#onData(chunk))
    this.ended = this.#watchExit(streamClosed)
    // A socket that closed before the listeners were added emits no more events.
    if (socket.destroyed) socket.emit('close')
  }

  async send(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const message = `the sandbox did not read ${bytes.length} bytes within ${this.#sendTimeoutMs} ms`
        reject(new PtcError('SANDBOX_PROTOCOL', message))
        // The runner has half a frame; the connection is unusable.
        this.#socket.destroy()
      }, this.#sendTimeoutMs)
      this.#socket.write(bytes, (cause) => {
        clearTimeout(timer)
        if (cause === null || cause === undefined) {
          failpoint('frame.sent')
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
      // The daemon does not respond: destroy the stream, so that `ended` settles.
      this.#socket.destroy()
      throw error
    }
  }

  async detach(): Promise<void> {
    this.#closing.abort()
    this.#socket.destroy()
    await this.ended
  }

  #onData(chunk: Uint8Array): void {
    try {
      const { stdout, stderr } = this.#demultiplexer.push(chunk)
      this.#diagnostics.push(stderr)
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

  async #watchExit(streamClosed: Promise<void>): Promise<SandboxEnd> {
    const signal = this.#closing.signal
    const exit = await awaitContainerExit({ engine: this.#engine, container: this.#container, streamClosed, signal })
    this.#closing.abort()
    if (exit === 'disconnected') {
      // A daemon that has disappeared does not close its side of the stream.
      this.#socket.destroy()
      return { reason: 'disconnected', exitCode: null, diagnostics: this.#diagnostics.toString().trim() }
    }
    return {
      // After a child ran out of memory, `OOMKilled` stays set, and the SIGKILL of this worker looks like one of the
      // kernel.
      reason: this.#killed ? 'exited' : exit.reason,
      exitCode: exit.exitCode,
      diagnostics: `${this.#diagnostics.toString()}\n${oomDiagnostic(exit)}`.trim(),
    }
  }
}
