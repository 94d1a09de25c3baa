import { type ChildProcess, spawn } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { raceWithSignal, withTimeLimit } from '../../../common/async/abort.js'
import { signalProcessGroup } from '../../../platform/process-group.js'
import { MessageReader, type ParseMessage } from './message-reader.js'

export interface ServerProcess {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Gets what the server writes to stderr, and what is no message on stdout. Long lines come in parts. */
  readonly onLine: (line: string) => void
}

/** Milliseconds that a server has after the end of its input, and again after SIGTERM. */
const graceMs = 1_000

/** Variables that a server gets of the worker's environment: those of the SDK, without secrets. */
const inherited =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/** Ends the process group when this process has ended, also by `kill -9`: then its standard input is closed. */
const watchScript = 'cat >/dev/null; kill -TERM -"$1"; sleep 2; kill -KILL -"$1"'

/**
 * The standard input and output of a server that this process starts. Unlike the transport of the SDK it ends the whole
 * process group: `npx` and other wrappers leave the server itself running.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #server: ServerProcess
  readonly #parse: ParseMessage
  #child: ChildProcess | undefined
  #watch: ChildProcess | undefined
  #closing: Promise<void> | undefined

  constructor(server: ServerProcess, parse: ParseMessage) {
    this.#server = server
    this.#parse = parse
  }

  start(): Promise<void> {
    const { command, args, env, cwd, onLine } = this.#server
    const logLine = (line: string): void => {
      if (line.trim() !== '') onLine(line)
    }
    const own = Object.fromEntries(inherited.map((name) => [name, process.env[name]]))
    const isWindows = process.platform === 'win32'
    const child = spawn(command, args, {
      cwd,
      env: { ...own, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: !isWindows,
      // `npx` is a script of the shell there.
      shell: isWindows,
      windowsHide: true,
    })
    this.#child = child
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stderr.on('data', (chunk: Buffer) => chunk.toString('utf8').split('\n').forEach(logLine))
    const reader = new MessageReader({
      parse: this.#parse,
      onMessage: (message) => this.onmessage?.(message),
      onLine,
    })
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        reader.read(chunk)
      } catch (thrown) {
        this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)))
        child.stdout.removeAllListeners('data').destroy()
        void this.close()
      }
    })
    const hasEnded = new Promise<void>((resolve) => child.stdout.once('close', resolve))
    // The last messages may still be in the pipe. A process that the server has left may keep it open.
    child.once('exit', () => void within(hasEnded, graceMs).then(() => this.close()))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => {
        if (!isWindows) this.#watch = watchGroup(child.pid)
        resolve()
      })
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (!input || this.#closing) return Promise.reject(new Error('the server is not running'))
    return new Promise((resolve, reject) => {
      input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#end().finally(() => this.onclose?.())
    return this.#closing
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    const exited = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve()
      else child.once('exit', () => resolve())
    })
    child.stdin?.end()
    if (!(await within(exited, graceMs))) {
      signalProcessGroup(child.pid, 'SIGTERM')
      await within(exited, graceMs)
    }
    // A wrapper may have ended before the processes that it started.
    signalProcessGroup(child.pid, 'SIGKILL')
    signalProcessGroup(this.#watch?.pid, 'SIGKILL')
    this.#watch?.stdin?.destroy()
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

function watchGroup(pid: number | undefined): ChildProcess {
  const watch = spawn('/bin/sh', ['-c', watchScript, 'durable-ptc-watch', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watch.on('error', () => undefined)
  watch.stdin.on('error', () => undefined)
  watch.unref()
  return watch
}

/** Whether the work, which does not fail, ends in this time. */
function within(work: Promise<void>, milliseconds: number): Promise<boolean> {
  return withTimeLimit(undefined, milliseconds, (signal) => raceWithSignal(signal, work)).then(
    () => true,
    () => false,
  )
}
