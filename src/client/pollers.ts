import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { type Role, roleQueue, roles } from '../common/names.js'
import { temporalError } from './temporal-error.js'

/** TASK_QUEUE_TYPE_* of the API. */
const queueTypes = { workflow: 1, activity: 2 } as const

/** A worker that polled within this time is there: a poll lasts up to a minute. */
const recentMs = 70_000

/**
 * The roles that no worker serves at the moment. The server remembers a worker for a while after it died, so an empty answer
 * is no promise.
 */
export async function missingRoles(
  client: Client,
  taskQueue: string,
  wanted: readonly Role[],
): Promise<readonly Role[]> {
  const served = await Promise.all(wanted.map((role) => hasPollers(client, roleQueue(taskQueue, role), role)))
  return wanted.filter((_, place) => !served[place])
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
  const what = missing.length === wanted.length ? 'no worker is' : `no worker for ${missing.join(', ')} is`
  const option =
    missing.length === roles.length || missing.length === wanted.length ? '' : ` --roles ${missing.join(',')}`
  throw new PtcError('WORKER_MISSING', `${what} running on task queue ${taskQueue}`, {
    hint: `Start one with \`ptc worker${option}\`, or everything at once with \`ptc dev\`.`,
  })
}

async function hasPollers({ workflowService, options }: Client, name: string, role: Role): Promise<boolean> {
  const { workflow, activity } = queueTypes
  try {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace: options.namespace,
      taskQueue: { name },
      // The enum is in a package that we do not depend on by name.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      taskQueueType: role === 'workflow' ? workflow : activity,
    })
    return (pollers ?? []).some(
      ({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > Date.now() - recentMs,
    )
  } catch (thrown) {
    throw temporalError(thrown, `ask for the workers of task queue ${name}`)
  }
}
