import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../random.js'
import type { WorkerProcess } from '../environment/worker-process.js'
import type { WorkerProcesses } from '../environment/worker-processes.js'

/** Two workflow worker processes, into which faults are injected. */
export class WorkerFleet {
  readonly counts = { mainThreadBlocked: 0, frozen: 0, killed: 0, deployed: 0, bothWorkersDown: 0 }
  readonly #pool: WorkerProcesses
  #workers: WorkerProcess[] = []
  #isStopped = false

  private constructor(pool: WorkerProcesses) {
    this.#pool = pool
  }

  static async start(pool: WorkerProcesses): Promise<WorkerFleet> {
    const fleet = new WorkerFleet(pool)
    await fleet.#startMissingWorkers()
    return fleet
  }

  /** Injects faults until the signal is aborted; afterwards all workers run. */
  async injectFaults(seed: number, signal: AbortSignal): Promise<void> {
    const random = new Random(seed)
    while (!signal.aborted && !this.#isStopped) {
      await delay(500 + random.below(1_500))
      await this.#injectFault(random)
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#pool.kill()
  }

  async #injectFault(random: Random): Promise<void> {
    const worker = random.oneOf(this.#workers)
    const kind = random.below(10)
    if (kind < 5) {
      this.counts.mainThreadBlocked += 1
      worker.sendSignal('SIGUSR2')
    } else if (kind < 7) {
      this.counts.frozen += 1
      worker.sendSignal('SIGSTOP')
      await delay(1_100 + random.below(1_000))
      worker.sendSignal('SIGCONT')
    } else if (kind === 7) {
      this.counts.killed += 1
      await worker.kill()
    } else if (kind === 8) {
      this.counts.deployed += 1
      await worker.kill('SIGTERM')
    } else {
      this.counts.bothWorkersDown += 1
      await Promise.all(this.#workers.map((each) => each.kill(random.oneOf(['SIGKILL', 'SIGTERM']))))
    }
    await this.#startMissingWorkers()
  }

  async #startMissingWorkers(): Promise<void> {
    this.#workers = this.#workers.filter(({ isRunning }) => isRunning)
    while (this.#workers.length < 2 && !this.#isStopped) {
      this.#workers.push(await this.#pool.start({ roles: ['workflow'] }))
    }
  }
}
