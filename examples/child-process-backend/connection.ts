import { PassThrough } from 'node:stream'
import { PtcError } from 'durable-ptc'
import type { SandboxConnection, SandboxEnd } from 'durable-ptc/sandbox'
import type { RunnerProcess } from './runner-process.js'

/** A connection to a runner; detaching leaves the runner alive. */
export class Connection implements SandboxConnection {
  readonly description = 'child process'
  // A full pipe blocks the runner until its output is read.
  readonly received = new PassThrough()
  readonly ended: Promise<SandboxEnd>
  readonly #runner: RunnerProcess
  #markDetached: () => void = () => {}
  #isAttached = true

  constructor(runner: RunnerProcess) {
    this.#runner = runner
    const detached = new Promise<SandboxEnd>((settle) => {
      this.#markDetached = () => settle({ reason: 'disconnected', exitCode: null, diagnostics: '' })
    })
    this.ended = Promise.race([runner.ended, detached])
    runner.stdout.pipe(this.received)
  }

  send(bytes: Uint8Array): Promise<void> {
    const lostError = (cause?: unknown) =>
      new PtcError('SANDBOX_LOST', 'the connection to the sandbox is over', { cause })
    if (!this.#isAttached) return Promise.reject(lostError())
    return new Promise((settle, reject) => {
      const rejectSend = () => reject(lostError())
      this.#runner.ended.then(rejectSend, rejectSend)
      this.#runner.stdin.write(bytes, (cause) => (cause ? reject(lostError(cause)) : settle()))
    })
  }

  async interrupt(): Promise<boolean> {
    return this.#isAttached && this.#runner.interrupt()
  }

  async kill(): Promise<void> {
    if (this.#isAttached) this.#runner.kill()
  }

  async detach(): Promise<void> {
    if (!this.#isAttached) return
    this.#isAttached = false
    this.#runner.stdout.unpipe(this.received)
    this.received.end()
    this.#markDetached()
  }
}
