import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Random } from '../random.js'
import { WorkerProcess } from '../worker-process.js'

const config = fileURLToPath(new URL('../../fixtures/stress.config.ts', import.meta.url))
const preload = new URL('preload.mjs', import.meta.url).href

/** Two workflow workers in processes of their own, and what happens to them. */
export class Fleet {
  readonly counts = { stalled: 0, frozen: 0, killed: 0, deployed: 0, gaps: 0 }
  readonly #taskQueue: string
  readonly #environment: NodeJS.ProcessEnv
  #workers: WorkerProcess[] = []
  #isOver = false

  private constructor(taskQueue: string, environment: NodeJS.ProcessEnv) {
    this.#taskQueue = taskQueue
    this.#environment = environment
  }

  static async start(taskQueue: string, environment: NodeJS.ProcessEnv): Promise<Fleet> {
    const fleet = new Fleet(taskQueue, environment)
    await fleet.#fill()
    return fleet
  }

  /** Harms workers until the signal is aborted; then all of them work. */
  async harm(seed: number, signal: AbortSignal): Promise<void> {
    const random = new Random(seed)
    while (!signal.aborted && !this.#isOver) {
      await delay(500 + random.below(1_500))
      await this.#harmOne(random)
    }
  }

  /** Idempotent. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#workers.map((worker) => worker.kill()))
  }

  async #harmOne(random: Random): Promise<void> {
    const worker = random.oneOf(this.#workers)
    const kind = random.below(10)
    if (kind < 5) {
      this.counts.stalled += 1
      worker.signal('SIGUSR2')
    } else if (kind < 7) {
      this.counts.frozen += 1
      worker.signal('SIGSTOP')
      await delay(1_100 + random.below(1_000))
      worker.signal('SIGCONT')
    } else if (kind === 7) {
      this.counts.killed += 1
      await worker.kill()
    } else if (kind === 8) {
      this.counts.deployed += 1
      await worker.kill('SIGTERM')
    } else {
      this.counts.gaps += 1
      await Promise.all(this.#workers.map((each) => each.kill(random.oneOf(['SIGKILL', 'SIGTERM']))))
    }
    await this.#fill()
  }

  async #fill(): Promise<void> {
    this.#workers = this.#workers.filter(({ running }) => running)
    while (this.#workers.length < 2 && !this.#isOver) {
      this.#workers.push(
        await WorkerProcess.start({
          config,
          preload,
          roles: 'workflow',
          taskQueue: this.#taskQueue,
          environment: this.#environment,
        }),
      )
    }
  }
}
