import type { Client } from '@temporalio/client'
import { nexusOperationStarted } from '../api-enums.js'
import { type WorkflowDescription, toMilliseconds } from '../temporal/event.js'
import { PayloadReader } from '../temporal/payload-reader.js'
import type { Unserved } from './unserved.js'
import { describeTaskQueue, isUnserved, unservedAfterMs } from './task-queue.js'

type PendingOperation = NonNullable<WorkflowDescription['raw']['pendingNexusOperations']>[number]

/** Maximum number of different operations that are looked up, in the order of their start. */
const maxOperations = 5

/**
 * Finds the Nexus operations of the run that have not started. Returns the task queue of their endpoint when no worker
 * polls it, else the endpoint when an attempt has failed. Sends requests only for an operation that has waited for
 * {@link unservedAfterMs}.
 *
 * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
 */
export async function findUnservedOperations(
  client: Client,
  { raw }: WorkflowDescription,
): Promise<readonly Unserved[]> {
  const found = new Map<string, PendingOperation>()
  for (const operation of raw.pendingNexusOperations ?? []) {
    const key = `${operation.endpoint} ${nameOf(operation)}`
    if (isWaiting(operation) && !found.has(key)) found.set(key, operation)
  }
  const operations = [...found.values()].slice(0, maxOperations)
  const unserved = await Promise.all(
    operations.map(
      async (operation) => (await findUnservedTarget(client, operation)) ?? (await findFailure(client, operation)),
    ),
  )
  return unserved.flatMap((each) => each ?? [])
}

function isWaiting({ state, scheduledTime }: PendingOperation): boolean {
  return Number(state) !== nexusOperationStarted && Date.now() - toMilliseconds(scheduledTime) >= unservedAfterMs
}

/**
 * Returns undefined also when the server denies access to this client: endpoints and their namespaces may belong to
 * other users.
 */
async function findUnservedTarget(client: Client, operation: PendingOperation): Promise<Unserved | undefined> {
  const { endpoint, scheduledTime } = operation
  try {
    const { endpoints } = await client.connection.operatorService.listNexusEndpoints({ name: endpoint ?? '' })
    const { namespace, taskQueue } = endpoints[0]?.spec?.target?.worker ?? {}
    if (!namespace || !taskQueue) return undefined
    const status = await describeTaskQueue(client, taskQueue, 'nexus', namespace)
    const waitingSince = toMilliseconds(scheduledTime)
    // The worker may have polled and died since then, because the operation is retried.
    if (status.pollers > 0 && !isUnserved({ ...status, waitingSince })) return undefined
    return {
      taskQueue,
      role: undefined,
      waitingType: `${nameOf(operation)} of Nexus endpoint ${endpoint}`,
      ...(namespace !== client.options.namespace && { namespace }),
      waitingSince,
      lastPolledAt: status.lastPolledAt,
    }
  } catch {
    return undefined
  }
}

async function findFailure(client: Client, operation: PendingOperation): Promise<Unserved | undefined> {
  const { endpoint, scheduledTime, attempt, lastAttemptFailure, blockedReason } = operation
  const reader = new PayloadReader(client.options.loadedDataConverter)
  if (lastAttemptFailure) await reader.prepare([lastAttemptFailure])
  const reason = reader.failure(lastAttemptFailure)?.message ?? blockedReason
  if (!reason) return undefined
  return {
    endpoint: endpoint ?? '',
    operation: nameOf(operation),
    waitingSince: toMilliseconds(scheduledTime),
    attempts: attempt ?? 0,
    reason,
  }
}

function nameOf({ service, operation }: PendingOperation): string {
  return `${service}.${operation}`
}
