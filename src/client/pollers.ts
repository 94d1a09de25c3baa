import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { type Role, roleQueue } from '../common/names.js'
import { timeOf } from './history/event.js'
import { formatDuration } from './render/format.js'
import { temporalError } from './temporal-error.js'

/** TASK_QUEUE_TYPE_* of the API. */
const queueTypes = { workflow: 1, activity: 2 } as const

/** A worker that polled within this time is there: a poll lasts up to a minute. */
const recentMs = 70_000

/** A worker that polls takes a task within milliseconds; this leaves time for a slow machine. */
export const unservedMs = 5_000

/** A task queue, as the server sees it. Times are in milliseconds since the epoch. */
export interface QueueState {
  readonly taskQueue: string
  /** Workers that polled within the last 70 seconds. */
  readonly pollers: number
  /** The latest poll. The server forgets a worker 5 minutes after its last poll. */
  readonly lastPolledAt: number | undefined
  /** Tasks that wait for a worker, and the time since which the oldest one has waited. */
  readonly backlog: number
  readonly waitingSince: number | undefined
}

/** @throws PtcError TEMPORAL_UNREACHABLE */
export async function describeQueue(
  { workflowService, options }: Client,
  taskQueue: string,
  type: keyof typeof queueTypes,
): Promise<QueueState> {
  try {
    const { pollers, stats } = await workflowService.describeTaskQueue({
      namespace: options.namespace,
      taskQueue: { name: taskQueue },
      // The enum is in a package that we do not depend on by name.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      taskQueueType: queueTypes[type],
      reportStats: true,
    })
    const polls = (pollers ?? []).map(({ lastAccessTime }) => timeOf(lastAccessTime))
    const backlog = Number(stats?.approximateBacklogCount ?? 0)
    const now = Date.now()
    return {
      taskQueue,
      pollers: polls.filter((at) => at > now - recentMs).length,
      lastPolledAt: polls.length === 0 ? undefined : Math.max(...polls),
      backlog,
      waitingSince: backlog === 0 ? undefined : now - timeOf(stats?.approximateBacklogAge),
    }
  } catch (thrown) {
    throw temporalError(thrown, `ask for the workers of task queue ${taskQueue}`)
  }
}

/** The queue of a role. @throws PtcError TEMPORAL_UNREACHABLE */
export function describeRole(client: Client, taskQueue: string, role: Role): Promise<QueueState> {
  return describeQueue(client, roleQueue(taskQueue, role), role === 'workflow' ? 'workflow' : 'activity')
}

/** True when a task waits and no worker has polled since it was put on the queue. */
export function isUnserved({ lastPolledAt = 0, waitingSince }: QueueState): boolean {
  return waitingSince !== undefined && Date.now() - waitingSince > unservedMs && lastPolledAt <= waitingSince
}

interface MissingRole {
  readonly role: Role
  readonly lastPolledAt: number | undefined
}

/**
 * The roles that no worker serves at the moment. The server remembers a worker for a while after it died, so an empty answer
 * is no promise.
 */
async function missingRoles(
  client: Client,
  taskQueue: string,
  wanted: readonly Role[],
): Promise<readonly MissingRole[]> {
  const queues = await Promise.all(
    wanted.map(async (role) => ({ role, ...(await describeRole(client, taskQueue, role)) })),
  )
  return queues.filter(({ pollers }) => pollers === 0)
}

/** The server hears of a worker a moment after that has said it is ready. */
const freshMs = 2_000
const pauseMs = 200

/** @throws PtcError WORKER_MISSING when a run would wait for ever */
export async function requireWorkers(client: Client, taskQueue: string, wanted: readonly Role[]): Promise<void> {
  const began = performance.now()
  let missing = await missingRoles(client, taskQueue, wanted)
  while (missing.length > 0 && performance.now() - began < freshMs) {
    await delay(pauseMs)
    missing = await missingRoles(client, taskQueue, wanted)
  }
  if (missing.length === 0) return
  const names = missing.map(({ role }) => role)
  const isAll = missing.length === wanted.length
  const what = isAll ? 'no worker is' : `no worker for ${names.join(', ')} is`
  const option = isAll ? '' : ` --roles ${names.join(',')}`
  throw new PtcError('WORKER_MISSING', `${what} running on task queue ${taskQueue} (${lastPoll(missing)})`, {
    hint: `Start one with \`ptc worker${option}\`, or everything at once with \`ptc dev\`.`,
  })
}

/** Of the roles together: the latest. */
function lastPoll(missing: readonly MissingRole[]): string {
  const times = missing.flatMap(({ lastPolledAt }) => lastPolledAt ?? [])
  return times.length === 0 ? 'no poll for minutes' : `last poll ${formatDuration(Date.now() - Math.max(...times))} ago`
}
