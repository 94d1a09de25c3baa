import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { messageOf, PtcError } from '../../../common/errors.js'
import type { SandboxEnd } from '../../backend.js'
import { deferred } from '../../../common/async/deferred.js'
import { signalProcessGroup } from '../../../platform/process-group.js'
import { InheritedFile } from './inherited-file.js'
import { InterruptFlag } from './interrupt-flag.js'
import { childEnvironment, type JailCommand } from '../jail/jail-command.js'
import { DiagnosticsBuffer } from '../../diagnostics-buffer.js'

const startTimeoutMs = 60_000
/** Time for a child to exit after it announced its exit. */
const exitGraceMs = 500
/** Messages on the status descriptor; runner/wasm/host-bindings.mjs has the same numbers. */
const readyStatus = 1
const exitStatus = 2 // followed by the exit code
/** Pause between reads of stderr, so that a flood of single bytes is read in larger chunks. */
const stderrPauseMs = 5

/**
 * | state     | on                          | next state                                         |
 * |-----------|-----------------------------|----------------------------------------------------|
 * | `running` | exit announced by the child | `exiting`, and killed after a grace period         |
 * | `running` | {@link Interpreter.kill}    | `killed`                                           |
 * | `exiting` | {@link Interpreter.kill}    | `killed`                                           |
 * | any       | the process has exited      | `ended`                                            |
 *
 * The child announces `exitCode`, which may arrive in any state.
 */
type InterpreterState =
  | { readonly phase: 'running' }
  | { readonly phase: 'exiting'; readonly exitCode: number }
  | { readonly phase: 'killed' | 'ended'; readonly exitCode: number | null }

/**
 * One jailed child process with Python, from its start to its end. Output that is not read stays in the pipe, and the
 * child waits.
 */
export class Interpreter {
  /** Resolves when the runner waits for the first frame; rejects when the child fails before. */
  readonly ready: Promise<void>
  /** Resolves when the process has exited. */
  readonly ended: Promise<SandboxEnd>
  readonly output: Readable
  readonly #input: Writable
  readonly #child: ChildProcess
  readonly #interruptFlag: InterruptFlag
  readonly #diagnostics = new DiagnosticsBuffer()
  readonly #readySignal = deferred<'started'>()
  #state: InterpreterState = { phase: 'running' }

  /** @param files what the child reads from descriptor 5, if its command says so */
  constructor({ file, args }: JailCommand, files?: Uint8Array) {
    this.#interruptFlag = new InterruptFlag()
    const inherited = files && new InheritedFile(files)
    this.#child = spawn(file, args, {
      env: childEnvironment,
      cwd: '/',
      stdio: [
        'pipe',
        'pipe',
        'pipe',
        this.#interruptFlag.childDescriptor,
        'pipe',
        ...(inherited ? [inherited.descriptor] : []),
      ],
      // This starts a new process session: without a terminal, without the Ctrl-C for the worker, and with one process
      // group to kill.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#interruptFlag.closeChildDescriptor()
    inherited?.close()
    const { stdin, stdout, stderr, stdio } = this.#child
    const status = stdio[4] as Readable | null | undefined
    if (!stdin || !stdout || !stderr || !status) {
      throw new PtcError('INTERNAL', 'the embedded interpreter was started without pipes')
    }
    this.#input = stdin
    this.output = stdout
    // `ended` reports a broken pipe. An `error` event without a listener would end this process.
    for (const stream of [stdin, stdout, stderr, status]) stream.on('error', () => {})
    stderr.on('data', (chunk: Uint8Array) => this.#onStderr(stderr, chunk))
    this.ended = this.#awaitEnd(Promise.all([once(stderr, 'close'), once(status, 'close')]))
    this.ready = this.#awaitReady()
    status.on('data', (chunk: Uint8Array) => this.#onStatus(chunk))
    this.ready.catch(() => {}) // the user of the interpreter awaits it too
  }

  get alive(): boolean {
    return this.#state.phase !== 'ended'
  }

  /** Resolves when the pipe accepts more bytes. */
  async send(bytes: Uint8Array): Promise<void> {
    if (!this.alive) throw endedError()
    if (this.#input.write(bytes)) return
    const hasEnded = await Promise.race([once(this.#input, 'drain').then(() => false), this.ended.then(() => true)])
    if (hasEnded) throw endedError()
  }

  interrupt(): boolean {
    if (this.alive) this.#interruptFlag.raise()
    return this.alive
  }

  /** Resolves when the process has exited. */
  async kill(): Promise<void> {
    const { phase } = this.#state
    if (phase === 'running' || phase === 'exiting') {
      this.#state = { phase: 'killed', exitCode: announcedExitCode(this.#state) }
      signalProcessGroup(this.#child.pid, 'SIGKILL')
    }
    await this.ended
  }

  /** Sets whether the child keeps this process alive. An idle interpreter must not. */
  setReferenced(isReferenced: boolean): void {
    const pipes = this.#child.stdio.filter((stream) => stream instanceof Socket)
    for (const handle of [this.#child, ...pipes]) {
      if (isReferenced) handle.ref()
      else handle.unref()
    }
  }

  #onStderr(stderr: Readable, chunk: Uint8Array): void {
    try {
      this.#diagnostics.push(chunk)
    } catch (thrown) {
      this.output.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)))
      return
    }
    stderr.pause()
    void setTimeout(stderrPauseMs, undefined, { ref: false }).then(() => stderr.resume())
  }

  #onStatus(status: Uint8Array): void {
    if (status.includes(readyStatus) && !status.includes(exitStatus)) this.#readySignal.resolve('started')
    const statusIndex = status.indexOf(exitStatus)
    if (statusIndex < 0) return
    const exitCode = status[statusIndex + 1]
    if (exitCode !== undefined) {
      this.#state = { phase: this.#state.phase === 'running' ? 'exiting' : this.#state.phase, exitCode }
    }
    // The exit of the child may hang in V8, after the program has ended.
    void setTimeout(exitGraceMs, undefined, { ref: false }).then(
      () => this.alive && signalProcessGroup(this.#child.pid, 'SIGKILL'),
    )
  }

  async #awaitReady(): Promise<void> {
    const deadline = new AbortController()
    const late = setTimeout(startTimeoutMs, 'late' as const, { ref: false, signal: deadline.signal })
    try {
      const first = await Promise.race([this.#readySignal.promise, late, this.ended])
      if (first === 'started') return
      if (first === 'late') void this.kill()
      const reason =
        first === 'late'
          ? `was not ready after ${startTimeoutMs / 1000} s`
          : `ended with ${first.exitCode ?? 'a signal'}`
      throw new PtcError('SANDBOX_UNAVAILABLE', `the embedded interpreter ${reason}: ${this.#diagnostics.toString()}`, {
        hint: 'Run `ptc doctor`, or use the Docker backend.',
      })
    } finally {
      deadline.abort()
      late.catch(() => {})
    }
  }

  async #awaitEnd(pipesClosed: Promise<unknown>): Promise<SandboxEnd> {
    const { exitCode, signal, error } = await waitForExit(this.#child)
    const wasKilled = this.#state.phase === 'killed'
    this.#state = { phase: 'ended', exitCode: announcedExitCode(this.#state) }
    this.#interruptFlag.close()
    // The pipes close when the child and all its wrapper processes have exited. Only then all messages have been read:
    // the announcement of the exit can arrive after the exit event.
    await pipesClosed.catch(() => {})
    const announced = announcedExitCode(this.#state)
    const diagnostics = error === undefined ? this.#diagnostics.toString() : messageOf(error)
    const outOfMemory =
      !wasKilled &&
      (announced === null ? isOutOfMemory(signal, exitCode, diagnostics) : endedByMemoryError(diagnostics))
    return {
      reason: outOfMemory ? 'out_of_memory' : 'exited',
      exitCode: exitCode ?? announced,
      diagnostics,
    }
  }
}

function announcedExitCode(state: InterpreterState): number | null {
  return 'exitCode' in state ? state.exitCode : null
}

interface ChildExit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly error?: Error
}

async function waitForExit(child: ChildProcess): Promise<ChildExit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    child.once('error', (error) => resolve({ exitCode: null, signal: null, error }))
  })
}

/**
 * Returns whether the memory was exhausted. V8 aborts when its heap is full, or when the kernel refuses memory
 * ("SetPermissions" in its message); the kernel may also kill the process. A wrapper process reports a signal as an
 * exit code of 128 plus its number.
 */
function isOutOfMemory(signal: NodeJS.Signals | null, exitCode: number | null, diagnostics: string): boolean {
  if (signal === 'SIGKILL' || exitCode === 128 + 9) return true
  const crashed = signal !== null || (exitCode !== null && exitCode > 128)
  return crashed && /out of memory|allocation failed|SetPermissions/i.test(diagnostics)
}

/** Returns true when Python had no memory left for the runner itself. The last line comes from runner/wasm/main.mjs. */
function endedByMemoryError(diagnostics: string): boolean {
  return /the interpreter ended: MemoryError\s*$/.test(diagnostics)
}

function endedError(): PtcError {
  return new PtcError('SANDBOX_LOST', 'the embedded interpreter has ended')
}
