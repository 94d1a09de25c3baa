import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { programRoles, type Role, roles, sandboxQueue } from '../../common/names.js'
import { waitForTaskPickup } from '../../client/workers/worker-availability.js'
import { describeRoleQueue, describeTaskQueue, isUnserved } from '../../client/workers/task-queue.js'
import { describeUnserved } from '../../client/workers/unserved-queue.js'
import { type BackendName, sandboxBackends } from '../../common/run/run-config.js'
import type { RunInfo } from '../../client/run/run-info.js'
import type { ExecutionRef } from '../../client/temporal/history-pages.js'
import type { Environment } from './environment.js'
import { printError, printStatus } from '../process/stdio.js'

/** Warns that a run may wait for a worker: prints the message of WORKER_MISSING instead of throwing it. */
export async function warnIfNoWorkers(environment: Environment, requiredRoles: readonly Role[]): Promise<void> {
  try {
    await environment.requireWorkers(requiredRoles)
  } catch (thrown) {
    if (!(PtcError.isInstance(thrown) && thrown.code === 'WORKER_MISSING')) throw thrown
    printError({ message: `${thrown.message}: the run waits for one`, hint: thrown.hint })
  }
}

/** Prints the roles that no worker serves, when one of the runs is running and may need them. */
export async function warnUnservedRoles(
  { client, ptc: { taskQueue } }: Environment,
  runs: readonly RunInfo[],
): Promise<void> {
  const running = runs.filter(({ status }) => status === 'running')
  if (running.length === 0) return
  const requiredRoles: readonly Role[] = running.some(({ type }) => type === 'agent') ? roles : programRoles
  const now = Date.now()
  const ofRoles = requiredRoles.map(async (role) => {
    const queue = await describeRoleQueue(client, taskQueue, role)
    // A worker without tools or sandboxes does not poll their queues.
    const isMissing = queue.pollers === 0 && role !== 'tools' && role !== 'sandbox'
    return isMissing || isUnserved(queue) ? [describeUnserved({ ...queue, role }, now)] : []
  })
  const ofBackends = describeUnservedSandboxes(client, taskQueue, sandboxBackends)
  for (const line of (await Promise.all([...ofRoles, ofBackends])).flat()) printStatus(`ptc: ${line}`)
}

/** A line for each backend that sessions wait for and that no worker has. */
export async function describeUnservedSandboxes(
  client: Client,
  taskQueue: string,
  backends: readonly BackendName[],
): Promise<readonly string[]> {
  const lines = backends.map(async (sandbox) => {
    const queue = await describeTaskQueue(client, sandboxQueue(taskQueue, sandbox), 'activity')
    return isUnserved(queue) ? [describeUnserved({ ...queue, role: 'sandbox', sandbox }, Date.now())] : []
  })
  return (await Promise.all(lines)).flat()
}

/** Warns when no worker takes the task of a signal or cancellation. Returns true when it warned. */
export async function warnIfTaskNotTaken({ client }: Environment, execution: ExecutionRef): Promise<boolean> {
  const queue = await waitForTaskPickup(client, execution)
  if (queue === undefined) return false
  printStatus(`ptc: ${describeUnserved({ ...queue, role: 'workflow' }, Date.now())}`)
  return true
}
