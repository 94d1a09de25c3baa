import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { runnerDirectory, type SandboxEnd } from 'durable-ptc/sandbox'

const diagnosticBytes = 8 * 1024

/** The runner of the engine as a child process, in a folder of its own. */
export class RunnerProcess {
  /** Settles once, when the process and its streams have ended. */
  readonly ended: Promise<SandboxEnd>
  readonly #child: ChildProcessWithoutNullStreams

  private constructor(child: ChildProcessWithoutNullStreams, folder: string) {
    this.#child = child
    let diagnostics = ''
    child.stderr.on('data', (text: string) => (diagnostics = (diagnostics + text).slice(-diagnosticBytes)))
    child.stderr.setEncoding('utf8')
    // A write to a process that has ended is told to its writer.
    child.stdin.on('error', () => {})
    this.ended = new Promise((settle) => {
      child.on('error', (error) => (diagnostics += error.message))
      child.once('close', (exitCode) => {
        this.kill()
        const end = () => settle({ reason: 'exited', exitCode, diagnostics })
        rm(folder, { recursive: true, force: true }).then(end, end)
      })
    })
  }

  static async start(): Promise<RunnerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'child-process-backend-'))
    const runner = join(runnerDirectory, 'python/runner.py')
    // The same seed in every sandbox: a rebuilt program must see its sets in the same order. Nothing else of our
    // environment; a process group of its own, so that what the code starts ends with it.
    const child = spawn('python3', ['-s', '-P', '-B', '-X', 'utf8', runner], {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8', PYTHONHASHSEED: '0', TZ: 'UTC' },
      detached: true,
    })
    return new RunnerProcess(child, folder)
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined
  }

  get stdin(): Writable {
    return this.#child.stdin
  }

  get stdout(): Readable {
    return this.#child.stdout
  }

  interrupt(): boolean {
    return this.alive && this.#child.kill('SIGINT')
  }

  /** Ends the process and everything it started. Idempotent. */
  kill(): void {
    if (this.#child.pid === undefined) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // There is nobody left in its group.
    }
  }
}
