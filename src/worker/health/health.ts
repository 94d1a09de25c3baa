import type { NativeConnection, Worker } from '@temporalio/worker'
import { raceWithSignal } from '../../common/async/abort.js'
import { messageOf } from '../../common/errors.js'
import type { SandboxBackend } from '../../sandbox/backend.js'
import type { Values } from '../../values/values.js'

/*
 * Health of a worker process: whether it can work now.
 *
 * Owns: the checks, and their HTTP server (health-server.ts). Boundary: it reads, and changes nothing.
 *
 * Invariants: 1. A check ends within {@link timeoutMs}, and never rejects. 2. A worker that drains is not ready. 3. A
 * worker that is alive may stay not ready while a service is unavailable: it waits, and needs no restart.
 */

const timeoutMs = 5_000

export interface HealthCheck {
  readonly name: 'workers' | 'temporal' | 'sandbox' | 'values'
  readonly ok: boolean
  /** Describes the problem. */
  readonly problem?: string
}

export interface WorkerHealth {
  /** True when every check is ok: the worker takes tasks and can finish them. */
  readonly ready: boolean
  readonly checks: readonly HealthCheck[]
}

interface CheckedParts {
  /** Every Temporal worker of the process; none before they run. */
  readonly workers: readonly Worker[]
  readonly connection: NativeConnection
  readonly backends: readonly SandboxBackend[]
  readonly values: Values
}

/** Checks a worker process. Never rejects. */
export async function checkHealth({ workers, connection, backends, values }: CheckedParts): Promise<WorkerHealth> {
  return toHealth(
    await Promise.all([
      runCheck('workers', async () => checkWorkers(workers)),
      runCheck('temporal', async () => void (await connection.workflowService.getSystemInfo({}))),
      ...backends.map((backend) => runCheck('sandbox', () => checkBackend(backend))),
      runCheck('values', async (signal) => void (await values.valueStore.stat(missingValue, signal))),
    ]),
  )
}

/** No value has this digest: the store searches for it and finds nothing. */
const missingValue = '0'.repeat(64)

/** Health of a process in which no worker runs. */
export const notStarted: WorkerHealth = {
  ready: false,
  checks: [{ name: 'workers', ok: false, problem: 'no worker runs' }],
}

/** The health of several workers in one process. */
export function joinHealth(all: readonly WorkerHealth[]): WorkerHealth {
  return all.length === 0 ? notStarted : toHealth(all.flatMap(({ checks }) => checks))
}

function toHealth(checks: readonly HealthCheck[]): WorkerHealth {
  return { ready: checks.every(({ ok }) => ok), checks }
}

async function runCheck(
  name: HealthCheck['name'],
  check: (signal: AbortSignal) => Promise<void>,
): Promise<HealthCheck> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    await raceWithSignal(signal, check(signal))
    return { name, ok: true }
  } catch (thrown) {
    return { name, ok: false, problem: messageOf(thrown) }
  }
}

function checkWorkers(workers: readonly Worker[]): void {
  if (workers.length === 0) throw new Error('no worker runs')
  for (const worker of workers) {
    const state = worker.getState()
    if (state !== 'RUNNING') throw new Error(`the worker of ${worker.options.taskQueue} is ${state}`)
  }
}

async function checkBackend(backend: SandboxBackend): Promise<void> {
  const { usable, problems } = await backend.check()
  if (usable) return
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  throw new Error(`${backend.name}: ${errors.join('; ')}`)
}
