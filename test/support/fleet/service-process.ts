import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'

export interface ServiceProcessOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A program that takes the place of a container, with the programs that it starts. */
export class ServiceProcess {
  readonly #child: ChildProcess
  readonly #name: string
  readonly #changes = new EventEmitter()
  #log = ''
  #hasEnded = false

  constructor(name: string, { command: [program = '', ...args], cwd, env }: ServiceProcessOptions) {
    this.#name = name
    // A group of its own, so that one signal ends a shell and its commands.
    this.#child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#log += chunk
        this.#changes.emit('change')
      })
    }
    const end = (): void => {
      this.#hasEnded = true
      this.#changes.emit('change')
    }
    this.#child.once('exit', end)
    // There is no such program.
    this.#child.once('error', (error) => {
      this.#log += String(error)
      end()
    })
  }

  /** What it has printed so far. */
  get log(): string {
    return this.#log
  }

  get isRunning(): boolean {
    return !this.#hasEnded
  }

  /** Settles when the output matches. @throws Error with the output when the program ends without it */
  async waitForOutput(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#log)) {
      if (!this.isRunning) throw new Error(`${this.#name} ended and never printed ${pattern}:\n${this.#log}`)
      await once(this.#changes, 'change')
    }
  }

  /** Settles when the program has succeeded. @throws Error with the output when it fails */
  async waitForSuccess(): Promise<void> {
    while (this.isRunning) await once(this.#changes, 'change')
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed:\n${this.#log}`)
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning || this.#child.pid === undefined) return
    process.kill(-this.#child.pid, signal)
    while (this.isRunning) await once(this.#changes, 'change')
  }
}
