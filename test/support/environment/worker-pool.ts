/** A worker in the process of the test, or in its own process. */
export interface TestWorker {
  /** Stops the worker gracefully, as a deployment does. Idempotent. */
  shutdown(): Promise<void>
}

/** The workers of one task queue. `Options` are those of one worker. */
export class WorkerPool<Worker extends TestWorker, Options> {
  readonly #launch: (options: Partial<Options>) => Promise<Worker>
  readonly #all: Worker[] = []

  constructor(launch: (options: Partial<Options>) => Promise<Worker>) {
    this.#launch = launch
  }

  async start(options: Partial<Options> = {}): Promise<Worker> {
    const worker = await this.#launch(options)
    this.#all.push(worker)
    return worker
  }

  /** In the order of their start. */
  get all(): readonly Worker[] {
    return this.#all
  }

  /** The worker that was started first. */
  get first(): Worker {
    const [first] = this.#all
    if (!first) throw new Error('there is no worker')
    return first
  }

  /** Shuts all workers down gracefully. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.shutdown()))
  }
}
