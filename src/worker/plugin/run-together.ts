import type { Worker } from '@temporalio/worker'

/** Milliseconds between two reads of the state of the user's worker: the SDK has no event for a shutdown. */
const stateIntervalMs = 100

interface RunningUserWorker {
  readonly worker: Worker
  /** Settles when the worker and the plugins after this one have ended. */
  readonly ended: Promise<void>
}

/**
 * Runs the workers of durable-ptc together with the user's worker. When the user's worker shuts down, or one worker
 * fails, all are shut down.
 *
 * @throws the first failure
 */
export async function runTogether({ worker, ended }: RunningUserWorker, others: readonly Worker[]): Promise<void> {
  const runs = [ended, ...others.map((other) => other.run())]
  const timer = setInterval(() => {
    if (worker.getState() !== 'RUNNING') shutdownAll(others)
  }, stateIntervalMs)
  try {
    await Promise.race([Promise.all(runs), ...runs.map(failureOf)])
  } finally {
    clearInterval(timer)
    shutdownAll([worker, ...others])
    await Promise.allSettled(runs)
  }
}

/** Ends the user's worker when the others can't be created. */
export async function endNow({ worker, ended }: RunningUserWorker, reason: unknown): Promise<never> {
  shutdownAll([worker])
  await Promise.allSettled([ended])
  throw reason
}

function failureOf(run: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => void run.catch(reject))
}

function shutdownAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
}
