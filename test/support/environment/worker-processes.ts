import { WorkerProcess, type WorkerProcessOptions } from './worker-process.js'
import { WorkerPool } from './worker-pool.js'

/** Options of one worker process. Its `environment` takes precedence over that of the pool. */
export type WorkerProcessStart = Pick<WorkerProcessOptions, 'hostId' | 'roles' | 'environment'>

/** Workers that are processes, which a test can kill. */
export class WorkerProcesses extends WorkerPool<WorkerProcess, WorkerProcessStart> {
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
}
