import { once } from 'node:events'
import { PtcError } from '../../../common/errors.js'
import type { SandboxConnection, SandboxEnd } from '../../backend.js'
import { deferred } from '../../../common/async/deferred.js'
import type { Interpreter } from './interpreter.js'

/**
 * A connection to an interpreter. `detach` leaves the interpreter running, and its output unread for the next
 * connection.
 */
export class WasmConnection implements SandboxConnection {
  readonly description: string
  readonly ended: Promise<SandboxEnd>
  readonly received: AsyncIterable<Uint8Array>
  readonly #interpreter: Interpreter
  readonly #detached = deferred<SandboxEnd>()
  #isAttached = true

  constructor(interpreter: Interpreter, description: string) {
    this.#interpreter = interpreter
    this.description = description
    this.ended = Promise.race([interpreter.ended, this.#detached.promise])
    this.received = this.#receive()
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (!this.#isAttached) throw new PtcError('SANDBOX_LOST', 'this connection is detached')
    await this.#interpreter.send(bytes)
  }

  async interrupt(): Promise<boolean> {
    return this.#isAttached && this.#interpreter.interrupt()
  }

  async kill(): Promise<void> {
    if (this.#isAttached) await this.#interpreter.kill()
  }

  async detach(): Promise<void> {
    if (!this.#isAttached) return
    this.#isAttached = false
    this.#detached.resolve({ reason: 'disconnected', exitCode: null, diagnostics: '' })
  }

  /** Reads a chunk only on demand: unread output stays in the pipe, and the child waits. */
  async *#receive(): AsyncGenerator<Uint8Array> {
    const { output } = this.#interpreter
    while (this.#isAttached) {
      const chunk: unknown = output.read()
      if (chunk instanceof Uint8Array) yield chunk
      else if (output.errored) throw output.errored
      else if (output.readableEnded || output.destroyed) return
      else await this.#waitForOutput()
    }
  }

  async #waitForOutput(): Promise<void> {
    const settled = new AbortController()
    const event = async (name: string) =>
      once(this.#interpreter.output, name, { signal: settled.signal }).catch(() => {})
    try {
      await Promise.race([event('readable'), event('end'), event('close'), this.#detached.promise])
    } finally {
      settled.abort()
    }
  }
}
