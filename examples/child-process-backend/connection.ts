import { PassThrough } from 'node:stream'
import { PtcError, type SandboxConnection, type SandboxEnd } from 'durable-ptc/sandbox'
import type { RunnerProcess } from './runner-process.js'

/** One party's hold on a runner; letting go leaves it running for the next. */
export class Connection implements SandboxConnection {
  readonly description = 'child process'
  // What nobody reads waits in the pipe, and the runner with it.
  readonly received = new PassThrough()
  readonly ended: Promise<SandboxEnd>
  readonly #runner: RunnerProcess
  #release: () => void = () => {}
  #held = true

  constructor(runner: RunnerProcess) {
    this.#runner = runner
    const released = new Promise<SandboxEnd>((settle) => {
      this.#release = () => settle({ reason: 'disconnected', exitCode: null, diagnostics: '' })
    })
    this.ended = Promise.race([runner.ended, released])
    runner.stdout.pipe(this.received)
  }

  send(bytes: Uint8Array): Promise<void> {
    const lost = (cause?: unknown) => new PtcError('SANDBOX_LOST', 'the connection to the sandbox is over', { cause })
    if (!this.#held) return Promise.reject(lost())
    return new Promise((settle, reject) => {
      const over = () => reject(lost())
      this.#runner.ended.then(over, over)
      this.#runner.stdin.write(bytes, (cause) => (cause ? reject(lost(cause)) : settle()))
    })
  }

  async interrupt(): Promise<boolean> {
    return this.#held && this.#runner.interrupt()
  }

  async kill(): Promise<void> {
    if (this.#held) this.#runner.kill()
  }

  async detach(): Promise<void> {
    if (!this.#held) return
    this.#held = false
    this.#runner.stdout.unpipe(this.received)
    this.received.end()
    this.#release()
  }
}
