import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { type Role, roleQueue } from '../../common/names.js'
import { taskQueueTypes } from '../api-enums.js'
import { toMilliseconds } from '../temporal/event.js'
import { formatDuration } from '../../common/text/format.js'
import { temporalError } from '../temporal/temporal-error.js'

/** A worker that polled within this time counts as running: a poll lasts up to a minute. */
const recentPollMs = 70_000

/** A polling worker takes a task within milliseconds; this allows for a slow machine. */
export const unservedAfterMs = 5_000

/** The server's view of a task queue. Times are in milliseconds since the epoch. */
export interface TaskQueueStatus {
  readonly taskQueue: string
  /** Workers that polled within the last 70 seconds. */
  readonly pollers: number
  /** The latest poll. The server forgets a worker 5 minutes after its last poll. */
  readonly lastPolledAt: number | undefined
  /** Number of tasks that wait for a worker, and the time at which the oldest of them was scheduled. */
  readonly backlog: number
  readonly waitingSince: number | undefined
}

/**
 * @param namespace default: the namespace of the client
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function describeTaskQueue(
  { workflowService, options }: Client,
  taskQueue: string,
  type: keyof typeof taskQueueTypes,
  namespace = options.namespace,
): Promise<TaskQueueStatus> {
  try {
    const { pollers, stats } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- see api-enums.ts
      taskQueueType: taskQueueTypes[type],
      reportStats: true,
    })
    const polls = (pollers ?? []).map(({ lastAccessTime }) => toMilliseconds(lastAccessTime))
    const backlog = Number(stats?.approximateBacklogCount ?? 0)
    const now = Date.now()
    return {
      taskQueue,
      pollers: polls.filter((at) => at > now - recentPollMs).length,
      lastPolledAt: polls.length === 0 ? undefined : Math.max(...polls),
      backlog,
      waitingSince: backlog === 0 ? undefined : now - toMilliseconds(stats?.approximateBacklogAge),
    }
  } catch (thrown) {
    throw temporalError(thrown, `ask for the workers of task queue ${taskQueue}`)
  }
}

/** Describes the queue of a role; for role `workflow`, of workflow tasks. @throws PtcError TEMPORAL_UNREACHABLE */
export function describeRoleQueue(client: Client, taskQueue: string, role: Role): Promise<TaskQueueStatus> {
  return role === 'workflow'
    ? describeTaskQueue(client, taskQueue, 'workflow')
    : describeTaskQueue(client, roleQueue(taskQueue, role), 'activity')
}

/** Returns true when a task has waited for {@link unservedAfterMs} and no worker has polled since it was scheduled. */
export function isUnserved({ lastPolledAt = 0, waitingSince }: TaskQueueStatus): boolean {
  return waitingSince !== undefined && Date.now() - waitingSince > unservedAfterMs && lastPolledAt <= waitingSince
}

interface UnservedRole {
  readonly role: Role
  readonly lastPolledAt: number | undefined
}

/**
 * Returns the roles for which no worker has polled in the last 70 seconds. A worker that died in this time is still
 * counted, so an empty result does not prove that all workers run.
 */
async function findUnservedRoles(
  client: Client,
  taskQueue: string,
  requiredRoles: readonly Role[],
): Promise<readonly UnservedRole[]> {
  const queues = await Promise.all(
    requiredRoles.map(async (role) => ({ role, ...(await describeRoleQueue(client, taskQueue, role)) })),
  )
  return queues.filter(({ pollers }) => pollers === 0)
}

/** The server sees a worker a moment after the worker reports that it is ready. */
const startupGraceMs = 2_000
const retryIntervalMs = 200

/** @throws PtcError WORKER_MISSING when no worker serves one of the roles; TEMPORAL_UNREACHABLE */
export async function requireWorkers(client: Client, taskQueue: string, requiredRoles: readonly Role[]): Promise<void> {
  const startedAt = performance.now()
  let missing = await findUnservedRoles(client, taskQueue, requiredRoles)
  while (missing.length > 0 && performance.now() - startedAt < startupGraceMs) {
    await delay(retryIntervalMs)
    missing = await findUnservedRoles(client, taskQueue, requiredRoles)
  }
  if (missing.length === 0) return
  const names = missing.map(({ role }) => role)
  const allMissing = missing.length === requiredRoles.length
  const subject = allMissing ? 'no worker is' : `no worker for ${names.join(', ')} is`
  const option = allMissing ? '' : ` --roles ${names.join(',')}`
  throw new PtcError('WORKER_MISSING', `${subject} running on task queue ${taskQueue} (${describeLastPoll(missing)})`, {
    hint: `Start one with \`ptc worker${option}\`, or everything at once with \`ptc dev\`.`,
  })
}

/** Describes the latest poll for any of the roles. */
function describeLastPoll(missing: readonly UnservedRole[]): string {
  const times = missing.flatMap(({ lastPolledAt }) => lastPolledAt ?? [])
  return times.length === 0
    ? 'no poll in the last 5 minutes'
    : `last poll ${formatDuration(Date.now() - Math.max(...times))} ago`
}
