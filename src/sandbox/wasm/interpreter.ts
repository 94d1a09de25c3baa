import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { messageOf, PtcError } from '../../common/errors.js'
import type { SandboxEnd } from '../backend.js'
import { deferred } from '../deferred.js'
import { InterruptLine } from './interrupt-line.js'
import { childEnvironment, type JailCommand } from './jail-command.js'
import { Tail } from '../tail.js'

const startMs = 60_000
/** How long a child that said it was over may take to be gone. */
const endMs = 500
/** What a child says on its status descriptor; doors.mjs knows the same numbers. */
const readyStatus = 1
const overStatus = 2
const diagnosticBytes = 8 * 1024
/** What floods the descriptor for crash messages, byte by byte, is read in larger pieces. */
const diagnosticPauseMs = 5
/** Far more than any crash message; the interpreter that writes it is ended. */
const maximumDiagnosticBytes = 8 * 1024 * 1024

/**
 * One jailed child process with Python in it, from its start to its end. `output` is left unread until somebody wants it:
 * the pipe fills, and the child waits.
 */
export class Interpreter {
  /** Settles when Python is up and its runner waits for the first frame; rejects when that does not happen. */
  readonly ready: Promise<void>
  /** Settles when the process is gone. */
  readonly ended: Promise<SandboxEnd>
  readonly output: Readable
  readonly #input: Writable
  readonly #child: ChildProcess
  readonly #interrupts: InterruptLine
  readonly #diagnostics = new Tail(diagnosticBytes)
  readonly #started = deferred<'started'>()
  /** The exit code the child announced. */
  #announced: number | null = null
  #alive = true
  #killed = false

  constructor({ file, args }: JailCommand) {
    this.#interrupts = new InterruptLine()
    this.#child = spawn(file, args, {
      env: childEnvironment,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', this.#interrupts.childDescriptor, 'pipe'],
      // A session of its own: no terminal, no Ctrl-C meant for the worker, and one group to kill.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#interrupts.started()
    const { stdin, stdout, stderr, stdio } = this.#child
    const status = stdio[4] as Readable | null | undefined
    if (!stdin || !stdout || !stderr || !status) {
      throw new PtcError('INTERNAL', 'the embedded interpreter was started without pipes')
    }
    this.#input = stdin
    this.output = stdout
    // A broken pipe is told by `ended`; an error without a listener would end this process.
    for (const stream of [stdin, stdout, stderr, status]) stream.on('error', () => {})
    stderr.on('data', (chunk: Uint8Array) => this.#diagnose(stderr, chunk))
    this.ended = this.#watchEnd(once(stderr, 'close'))
    this.ready = this.#watchStart()
    status.on('data', (chunk: Uint8Array) => this.#hear(chunk))
    this.ready.catch(() => {}) // whoever takes the interpreter hears of it
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Settles when there is room for more. */
  async send(bytes: Uint8Array): Promise<void> {
    if (!this.#alive) throw gone()
    if (this.#input.write(bytes)) return
    const left = await Promise.race([once(this.#input, 'drain').then(() => false), this.ended.then(() => true)])
    if (left) throw gone()
  }

  interrupt(): boolean {
    if (this.#alive) this.#interrupts.raise()
    return this.#alive
  }

  /** Settles when the process is gone. */
  async kill(): Promise<void> {
    if (this.#alive && !this.#killed) {
      this.#killed = true
      killGroup(this.#child)
    }
    await this.ended
  }

  /** Whether this process stays for the child's sake; an idle interpreter must not keep it. */
  hold(held: boolean): void {
    const pipes = this.#child.stdio.filter((stream) => stream instanceof Socket)
    for (const handle of [this.#child, ...pipes]) {
      if (held) handle.ref()
      else handle.unref()
    }
  }

  #diagnose(stderr: Readable, chunk: Uint8Array): void {
    this.#diagnostics.push(chunk)
    if (this.#diagnostics.total > maximumDiagnosticBytes) {
      this.output.destroy(
        new PtcError('SANDBOX_PROTOCOL', `the sandbox wrote more than ${maximumDiagnosticBytes} bytes to stderr`),
      )
      return
    }
    stderr.pause()
    void setTimeout(diagnosticPauseMs, undefined, { ref: false }).then(() => stderr.resume())
  }

  #hear(status: Uint8Array): void {
    if (status.includes(readyStatus) && !status.includes(overStatus)) this.#started.resolve('started')
    const over = status.indexOf(overStatus)
    if (over < 0) return
    this.#announced = status[over + 1] ?? null
    // Its own exit may hang in V8, with nothing of the program left to wait for.
    void setTimeout(endMs, undefined, { ref: false }).then(() => this.#alive && killGroup(this.#child))
  }

  async #watchStart(): Promise<void> {
    const deadline = new AbortController()
    const late = setTimeout(startMs, 'late' as const, { ref: false, signal: deadline.signal })
    try {
      const first = await Promise.race([this.#started.promise, late, this.ended])
      if (first === 'started') return
      if (first === 'late') void this.kill()
      const reason =
        first === 'late' ? `was not ready after ${startMs / 1000} s` : `ended with ${first.exitCode ?? 'a signal'}`
      throw new PtcError('SANDBOX_UNAVAILABLE', `the embedded interpreter ${reason}: ${this.#diagnostics.toString()}`, {
        hint: 'Run `ptc doctor`, or use the Docker backend.',
      })
    } finally {
      deadline.abort()
      late.catch(() => {})
    }
  }

  async #watchEnd(diagnosed: Promise<unknown>): Promise<SandboxEnd> {
    const { exitCode, signal, error } = await exitOf(this.#child)
    const over = this.#announced !== null
    this.#alive = false
    this.#interrupts.close()
    // Everything that held the pipe is gone when it closes: the child and whatever was wrapped around it.
    await diagnosed.catch(() => {})
    const diagnostics = error === undefined ? this.#diagnostics.toString() : messageOf(error)
    const outOfMemory =
      !this.#killed && (over ? endedByMemoryError(diagnostics) : diedOfMemory(signal, exitCode, diagnostics))
    return { reason: outOfMemory ? 'out_of_memory' : 'exited', exitCode: exitCode ?? this.#announced, diagnostics }
  }
}

interface Exit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: Error
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    child.once('error', (error) => resolve({ exitCode: null, signal: null, error }))
  })
}

/**
 * V8 aborts when its heap is full, the kernel kills when its own limit is met. A number of a signal plus 128 is how a
 * wrapper passes it on.
 */
function diedOfMemory(signal: NodeJS.Signals | null, exitCode: number | null, diagnostics: string): boolean {
  if (signal === 'SIGKILL' || exitCode === 128 + 9) return true
  const crashed = signal !== null || (exitCode !== null && exitCode > 128)
  return crashed && /out of memory|allocation failed|SetPermissions/i.test(diagnostics)
}

/** Python had no memory left for the runner itself; the last line is what `main.mjs` reports. */
function endedByMemoryError(diagnostics: string): boolean {
  return /the interpreter ended: MemoryError\s*$/.test(diagnostics)
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It was faster than we.
  }
}

function gone(): PtcError {
  return new PtcError('SANDBOX_LOST', 'the embedded interpreter has ended')
}
