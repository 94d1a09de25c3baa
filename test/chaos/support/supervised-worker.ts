import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { WorkerProcess, type WorkerProcessOptions } from '../../support/environment/worker-process.js'

const preload = fileURLToPath(new URL('kill-at-failpoint.mjs', import.meta.url))

/** Kills a worker at the n-th hit of a failpoint. */
export interface Crash {
  readonly point: Failpoint
  readonly hit: number
}

export interface SupervisedWorkerOptions extends Pick<WorkerProcessOptions, 'config' | 'taskQueue'> {
  readonly environment: NodeJS.ProcessEnv
  /** Folder for logs. */
  readonly folder: string
  /** Crashes of the first worker, the second, and so on; the worker after them survives. */
  readonly crashes: readonly Crash[]
  /** Called when a worker has died. */
  readonly onDeath: () => void
}

/** Keeps one worker process running: when it dies, starts the next. */
export class SupervisedWorker {
  readonly #options: SupervisedWorkerOptions
  readonly #logs: string[] = []
  #current: WorkerProcess | undefined
  #closing = false
  /** Settles when the latest worker polls its task queues. */
  #starting: Promise<void> = Promise.resolve()
  #supervising: Promise<void> = Promise.resolve()

  private constructor(options: SupervisedWorkerOptions) {
    this.#options = options
  }

  static async start(options: SupervisedWorkerOptions): Promise<SupervisedWorker> {
    const workers = new SupervisedWorker(options)
    await workers.#startNext()
    workers.#supervising = workers.#supervise()
    return workers
  }

  /** kill -9 of the running worker; false when there is none. */
  async kill(): Promise<boolean> {
    if (!this.#current?.isRunning) return false
    await this.#current.kill('SIGKILL')
    return true
  }

  /** Stops the process for a while (SIGSTOP); false when there is none. */
  async freeze(milliseconds: number): Promise<boolean> {
    const frozen = this.#current
    if (!frozen?.isRunning) return false
    frozen.sendSignal('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    frozen.sendSignal('SIGCONT')
    return true
  }

  /** Hits of failpoints by all workers, and those at which a worker was killed. */
  get hits(): readonly { readonly point: string; readonly time: number; readonly crashed: boolean }[] {
    const lines = this.#logs.filter((log) => existsSync(log)).flatMap((log) => readFileSync(log, 'utf8').split('\n'))
    return lines
      .filter((line) => line !== '')
      .map((line) => {
        const [point = '', time, crash] = line.split(/[# ]/)
        return { point, time: Number(time), crashed: crash === 'crash' }
      })
  }

  /** Stops the last worker gracefully; returns its exit code and log. */
  async close(): Promise<{ readonly exit: number | NodeJS.Signals; readonly log: string }> {
    const last = await this.#currentWorker()
    this.#closing = true
    await last.kill('SIGTERM')
    await this.#supervising
    return { exit: await last.waitForExit(), log: last.log }
  }

  /** Kills the running worker. */
  async killAll(): Promise<void> {
    if (!this.#closing) await this.#currentWorker()
    this.#closing = true
    await this.#current?.kill('SIGKILL')
    await this.#supervising
  }

  /** The running worker; waits for the successor of one that has just died. */
  async #currentWorker(): Promise<WorkerProcess> {
    while (this.#current?.isRunning !== true) await this.#starting
    return this.#current
  }

  async #supervise(): Promise<void> {
    for (;;) {
      await this.#current?.waitForExit()
      if (this.#closing) return
      this.#options.onDeath()
      this.#starting = this.#startNext()
      await this.#starting
    }
  }

  async #startNext(): Promise<void> {
    const { folder, crashes, config, taskQueue, environment } = this.#options
    const number = this.#logs.length
    const log = join(folder, `passed-${number}`)
    this.#logs.push(log)
    const crash = crashes[number]
    this.#current = await WorkerProcess.start({
      preload,
      config,
      taskQueue,
      environment: {
        ...environment,
        PTC_FAILPOINT_LOG: log,
        ...(crash === undefined ? {} : { PTC_FAILPOINT: `${crash.point}#${crash.hit}` }),
      },
    })
  }
}
