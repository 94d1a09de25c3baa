import { setTimeout as delay } from 'node:timers/promises'
import type { WorkerProcess } from '../../../support/environment/worker-process.js'
import type { Killable } from '../../../support/faults/restart-loop.js'

/** A worker that a supervisor starts, as systemd or Kubernetes does: again, when it ends before it is ready. */
export class SupervisedWorker implements Killable {
  readonly #start: () => Promise<WorkerProcess>
  #current: WorkerProcess | undefined
  /** Output of processes that ended without a signal of the test. */
  readonly #unexpectedEnds: string[] = []
  #failedStarts = 0

  constructor(start: () => Promise<WorkerProcess>) {
    this.#start = start
  }

  /** The ready process; undefined while there is none. */
  get current(): WorkerProcess | undefined {
    return this.#current
  }

  /** Output of processes that ended by themselves after they were ready. */
  get unexpectedEnds(): readonly string[] {
    const { log, isRunning } = this.#current ?? { log: '', isRunning: true }
    return isRunning ? this.#unexpectedEnds : [...this.#unexpectedEnds, log]
  }

  /** Number of processes that ended before they were ready, for example because the server was down. */
  get failedStarts(): number {
    return this.#failedStarts
  }

  async kill(): Promise<void> {
    const worker = this.#current
    if (worker && !worker.isRunning) this.#unexpectedEnds.push(worker.log)
    this.#current = undefined
    await worker?.kill()
  }

  async startProcess(): Promise<void> {
    for (;;) {
      try {
        this.#current = await this.#start()
        return
      } catch (thrown) {
        if (!String(thrown).includes('the worker ended before')) throw thrown
        this.#failedStarts += 1
        await delay(500)
      }
    }
  }

  /** Stops the worker gracefully; returns its exit code. */
  async shutdown(): Promise<number | NodeJS.Signals> {
    const worker = this.#current
    if (worker === undefined) throw new Error('the worker does not run')
    this.#current = undefined
    await worker.shutdown()
    return worker.waitForExit()
  }
}
