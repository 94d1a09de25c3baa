import { once } from 'node:events'
import { PtcError } from '../../common/errors.js'
import type { SandboxConnection, SandboxEnd } from '../backend.js'
import { deferred } from '../deferred.js'
import type { Interpreter } from './interpreter.js'

/**
 * One party's hold on an interpreter. Letting go leaves the interpreter running, and what it said unread, for the next
 * connection.
 */
export class WasmConnection implements SandboxConnection {
  readonly description: string
  readonly ended: Promise<SandboxEnd>
  readonly received: AsyncIterable<Uint8Array>
  readonly #interpreter: Interpreter
  readonly #released = deferred<SandboxEnd>()
  #held = true

  constructor(interpreter: Interpreter, description: string) {
    this.#interpreter = interpreter
    this.description = description
    this.ended = Promise.race([interpreter.ended, this.#released.promise])
    this.received = this.#receive()
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (!this.#held) throw new PtcError('SANDBOX_LOST', 'this connection was given up')
    await this.#interpreter.send(bytes)
  }

  async interrupt(): Promise<boolean> {
    return this.#held && this.#interpreter.interrupt()
  }

  async kill(): Promise<void> {
    if (this.#held) await this.#interpreter.kill()
  }

  async detach(): Promise<void> {
    if (!this.#held) return
    this.#held = false
    this.#released.resolve({ reason: 'disconnected', exitCode: null, diagnostics: '' })
  }

  /** Takes a piece only when it is asked for one: what nobody reads stays in the pipe, and the child waits. */
  async *#receive(): AsyncGenerator<Uint8Array> {
    const { output } = this.#interpreter
    while (this.#held) {
      const chunk: unknown = output.read()
      if (chunk instanceof Uint8Array) yield chunk
      else if (output.errored) throw output.errored
      else if (output.readableEnded || output.destroyed) return
      else await this.#moreOrOver()
    }
  }

  async #moreOrOver(): Promise<void> {
    const over = new AbortController()
    const event = async (name: string) => once(this.#interpreter.output, name, { signal: over.signal }).catch(() => {})
    try {
      await Promise.race([event('readable'), event('end'), event('close'), this.#released.promise])
    } finally {
      over.abort()
    }
  }
}
