import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { runnerDirectory, runnerStart, type SandboxEnd, type SandboxSpec } from 'durable-ptc/sandbox'

const maximumDiagnosticCharacters = 8 * 1024

/** The engine's runner as a child process in a folder of its own. */
export class RunnerProcess {
  /** Settles once, when the process and its streams have ended. */
  readonly ended: Promise<SandboxEnd>
  readonly #child: ChildProcessWithoutNullStreams

  private constructor(child: ChildProcessWithoutNullStreams, folder: string) {
    this.#child = child
    let diagnostics = ''
    child.stderr.on('data', (text: string) => (diagnostics = (diagnostics + text).slice(-maximumDiagnosticCharacters)))
    child.stderr.setEncoding('utf8')
    // The callback of the write reports errors.
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

  static async start(spec: SandboxSpec): Promise<RunnerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'child-process-backend-'))
    const { command, environment, privateFolder } = runnerStart(spec, runnerDirectory)
    const [program = '', ...parameters] = command
    // Sandboxes of this machine share its ports and folders.
    const own = {
      ...(privateFolder !== undefined && { PTC_FOLDER: join(folder, 'private') }),
      ...(spec.network && { PTC_PROXY_PORT: '0' }),
    }
    // The same variables in every sandbox: a rebuilt program must see its sets in the same order. No other variable of
    // this environment. A process group, so that processes of the code end with the runner.
    const child = spawn(program, parameters, {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8', TZ: 'UTC', ...environment, ...own },
      detached: true,
    })
    return new RunnerProcess(child, folder)
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined
  }

  get stdin(): Writable {
    return this.#child.stdin
  }

  get stdout(): Readable {
    return this.#child.stdout
  }

  interrupt(): boolean {
    return this.isAlive && this.#child.kill('SIGINT')
  }

  /** Ends the process and everything it started. Idempotent. */
  kill(): void {
    if (this.#child.pid === undefined) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // The process group is empty.
    }
  }
}
