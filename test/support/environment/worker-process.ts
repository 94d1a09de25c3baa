import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Role } from '../../../src/common/names.js'
import type { TestWorker } from './worker-pool.js'
import { sharedServer } from '../temporal/shared-server.js'

const cli = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

/** A `ptc worker` process, which a test can kill. */
export class WorkerProcess implements TestWorker {
  readonly #child: ChildProcess
  #log = ''
  readonly #changes = new EventEmitter()

  private constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#log += String(chunk)
        this.#changes.emit('change')
      })
    }
    child.on('exit', () => this.#changes.emit('change'))
  }

  /**
   * Starts the process and waits until it polls its task queues. When a failpoint kills the process earlier, returns it
   * dead: it takes work before all of its task queues have a worker.
   */
  static async start(options: WorkerProcessOptions): Promise<WorkerProcess> {
    const { address, namespace } = sharedServer()
    const {
      config,
      taskQueue,
      environment = {},
      hostId = 'test-host',
      command = cli,
      preload,
      roles,
      launcher = [],
    } = options
    const imports = preload === undefined ? [] : ['--import', preload]
    const chosen = roles === undefined ? [] : ['--roles', roles.join(',')]
    const [program = process.execPath, ...words] = [...launcher, process.execPath, ...imports]
    const child = spawn(program, [...words, command, 'worker', '--config', config, ...chosen], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        PTC_HOST_ID: hostId,
        TEST_TASK_QUEUE: taskQueue,
        ...environment,
      },
    })
    const worker = new WorkerProcess(child)
    await worker.#ready()
    return worker
  }

  get log(): string {
    return this.#log
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Settles when the process has ended. */
  async waitForExit(): Promise<number | NodeJS.Signals> {
    if (this.isRunning) await once(this.#child, 'exit')
    return this.#child.signalCode ?? this.#child.exitCode ?? 0
  }

  /** The exit code; null while the process runs, and when a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Sends a signal and waits for the end. */
  async kill(sendSignal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return
    const exit = once(this.#child, 'exit')
    this.#child.kill(sendSignal)
    await exit
  }

  /** Stops the process gracefully (SIGTERM), and waits for its end. */
  shutdown(): Promise<void> {
    return this.kill('SIGTERM')
  }

  /** Sends a signal without waiting. */
  sendSignal(sendSignal: NodeJS.Signals): void {
    this.#child.kill(sendSignal)
  }

  /** Settles when the output matches. */
  async waitForOutput(what: RegExp): Promise<void> {
    while (!what.test(this.#log)) {
      if (!this.isRunning) throw new Error(`the worker ended before it printed ${what}:\n${this.#log}`)
      await once(this.#changes, 'change')
    }
  }

  /** Settles when `ptc worker` has printed that it polls its task queues, or a failpoint has killed it. */
  async #ready(): Promise<void> {
    try {
      await this.waitForOutput(/worker ready/i)
    } catch (thrown) {
      if (this.#child.signalCode !== 'SIGKILL') throw thrown
    }
  }
}

export interface WorkerProcessOptions {
  readonly config: string
  readonly taskQueue: string
  readonly environment?: NodeJS.ProcessEnv
  /** Roles of the worker; default: all. */
  readonly roles?: readonly Role[]
  /** Another `ptc` than that of this checkout. */
  readonly command?: string
  /** A module that the process loads before all others. */
  readonly preload?: string
  /** A program with arguments that starts the worker, and becomes it. */
  readonly launcher?: readonly string[]
  /** Host id; the same for workers that share a Docker daemon. */
  readonly hostId?: string
}
