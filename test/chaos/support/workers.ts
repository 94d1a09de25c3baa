import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CrashPoint } from '../../../src/common/crash-point.js'
import { chaosCli, WorkerProcess, type WorkerProcessOptions } from '../../support/worker-process.js'

const preload = fileURLToPath(new URL('crash-at.mjs', import.meta.url))

/** A worker comes to this point for the n-th time, and is dead. */
export interface Crash {
  readonly point: CrashPoint
  readonly time: number
}

export interface WorkersOptions extends Pick<WorkerProcessOptions, 'config' | 'taskQueue'> {
  readonly environment: NodeJS.ProcessEnv
  /** For logs. */
  readonly folder: string
  /** What the first worker, the second … dies of; the one after them lives. */
  readonly crashes: readonly Crash[]
  /** Told when one has died, and when the next is at work. */
  readonly onDeath: () => void
}

/** Sees to it that there is a worker: when one dies, the next begins. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #logs: string[] = []
  #current: WorkerProcess | undefined
  #closing = false
  /** Settles when the latest of them is at work. */
  #coming: Promise<void> = Promise.resolve()
  #kept: Promise<void> = Promise.resolve()

  private constructor(options: WorkersOptions) {
    this.#options = options
  }

  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options)
    await workers.#next()
    workers.#kept = workers.#keep()
    return workers
  }

  /** kill -9 of whoever is at work; false when nobody is. */
  async kill(): Promise<boolean> {
    if (!this.#current?.running) return false
    await this.#current.kill('SIGKILL')
    return true
  }

  /** Stops the process for a while, long enough to be believed dead; false when there is none. */
  async freeze(milliseconds: number): Promise<boolean> {
    const frozen = this.#current
    if (!frozen?.running) return false
    frozen.signal('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    frozen.signal('SIGCONT')
    return true
  }

  /** Points that were passed, over all workers, and those at which one died. */
  get passed(): readonly { readonly point: string; readonly time: number; readonly crashed: boolean }[] {
    const lines = this.#logs.filter((log) => existsSync(log)).flatMap((log) => readFileSync(log, 'utf8').split('\n'))
    return lines
      .filter((line) => line !== '')
      .map((line) => {
        const [point = '', time, crash] = line.split(/[# ]/)
        return { point, time: Number(time), crashed: crash === 'crash' }
      })
  }

  /** Ends the last one as a deployment does; gives its exit code, and what it said. */
  async close(): Promise<{ readonly exit: number | NodeJS.Signals; readonly log: string }> {
    const last = await this.#living()
    this.#closing = true
    await last.kill('SIGTERM')
    await this.#kept
    return { exit: await last.ended(), log: last.log }
  }

  /** Ends whatever still runs. */
  async abandon(): Promise<void> {
    if (!this.#closing) await this.#living()
    this.#closing = true
    await this.#current?.kill('SIGKILL')
    await this.#kept
  }

  /** Whoever is at work; one that has died a moment ago has a successor under way. */
  async #living(): Promise<WorkerProcess> {
    while (this.#current?.running !== true) await this.#coming
    return this.#current
  }

  async #keep(): Promise<void> {
    for (;;) {
      await this.#current?.ended()
      if (this.#closing) return
      this.#options.onDeath()
      this.#coming = this.#next()
      await this.#coming
    }
  }

  async #next(): Promise<void> {
    const { folder, crashes, config, taskQueue, environment } = this.#options
    const number = this.#logs.length
    const log = join(folder, `passed-${number}`)
    this.#logs.push(log)
    const crash = crashes[number]
    this.#current = await WorkerProcess.start({
      command: chaosCli,
      preload,
      config,
      taskQueue,
      environment: {
        ...environment,
        PTC_CRASH_LOG: log,
        ...(crash === undefined ? {} : { PTC_CRASH_AT: `${crash.point}#${crash.time}` }),
      },
    })
  }
}
