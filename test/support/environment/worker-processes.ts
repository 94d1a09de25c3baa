import { WorkerProcess, type WorkerProcessOptions } from './worker-process.js'
import { WorkerPool } from './worker-pool.js'

/** Options of one worker process. Its `environment` takes precedence over that of the pool. */
export type WorkerProcessStart = Pick<WorkerProcessOptions, 'hostId' | 'roles' | 'environment' | 'launcher'>

/** How dead workers are replaced. */
export interface RestartPolicy {
  /** Options of the n-th worker, counted from 0. */
  readonly options: (index: number) => WorkerProcessStart
  /** Called when a worker has died. */
  readonly onDeath: (worker: WorkerProcess) => void
}

/**
 * The worker that {@link WorkerProcesses.keepRunning} keeps running.
 *
 * | from     | to       | when                                      |
 * | -------- | -------- | ----------------------------------------- |
 * | none     | starting | `keepRunning` is called                   |
 * | starting | running  | the worker polls its task queues          |
 * | running  | starting | its process has ended                     |
 * | running  | none     | `endRestarts`, which waits for this state |
 */
type KeptWorker =
  | { readonly kind: 'none' }
  | { readonly kind: 'starting'; readonly ready: Promise<WorkerProcess> }
  | { readonly kind: 'running'; readonly worker: WorkerProcess }

/** Workers that are processes, which a test can kill. */
export class WorkerProcesses extends WorkerPool<WorkerProcess, WorkerProcessStart> {
  #kept: KeptWorker = { kind: 'none' }

  constructor(common: Pick<WorkerProcessOptions, 'config' | 'taskQueue' | 'preload' | 'environment'>) {
    super(({ environment, ...options }) =>
      WorkerProcess.start({ ...common, ...options, environment: { ...common.environment, ...environment } }),
    )
  }

  /** kill -9 of all workers. */
  async kill(): Promise<void> {
    await Promise.all(this.all.map((worker) => worker.kill('SIGKILL')))
  }

  /** kill -9 of all workers, then starts a new one; default: on the same host. */
  async replace(options: WorkerProcessStart = {}): Promise<WorkerProcess> {
    await this.kill()
    return this.start(options)
  }

  /** Output of all workers so far. */
  get log(): string {
    return this.all.map(({ log }) => log).join('\n')
  }

  /** Starts a worker, and the next one whenever its process ends, until {@link endRestarts}. */
  async keepRunning(policy: RestartPolicy): Promise<void> {
    const worker = await this.#startKept(policy)
    void this.#replaceDead(worker, policy)
  }

  /** The worker that is kept running; undefined while its successor starts. */
  get current(): WorkerProcess | undefined {
    return this.#kept.kind === 'running' && this.#kept.worker.isRunning ? this.#kept.worker : undefined
  }

  /** Waits until a worker runs; from then on it is not replaced. Returns it. */
  async endRestarts(): Promise<WorkerProcess> {
    for (;;) {
      const kept = this.#kept
      if (kept.kind === 'none') throw new Error('no worker is kept running')
      const worker = kept.kind === 'running' ? kept.worker : await kept.ready
      if (worker.isRunning) {
        this.#kept = { kind: 'none' }
        return worker
      }
      await worker.waitForExit()
    }
  }

  /** Ends all workers at once. */
  async end(): Promise<void> {
    if (this.#kept.kind !== 'none') await this.endRestarts()
    await this.kill()
  }

  async #startKept({ options }: RestartPolicy): Promise<WorkerProcess> {
    const ready = this.start(options(this.all.length))
    this.#kept = { kind: 'starting', ready }
    const worker = await ready
    this.#kept = { kind: 'running', worker }
    return worker
  }

  async #replaceDead(first: WorkerProcess, policy: RestartPolicy): Promise<void> {
    for (let worker = first; ; worker = await this.#startKept(policy)) {
      await worker.waitForExit()
      if (this.#kept.kind === 'none') return
      policy.onDeath(worker)
    }
  }
}
