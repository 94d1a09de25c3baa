import type { Client } from '@temporalio/client'
import { type Role, roleQueue, roles } from '../common/names.js'
import { type Description, timeOf } from './history/event.js'
import type { UnservedQueue } from './history/index.js'
import { describeQueue, isUnserved, type QueueState, unservedMs } from './pollers.js'

/** PENDING_ACTIVITY_STATE_* and PENDING_WORKFLOW_TASK_STATE_* of the API. */
const taskStates = { scheduled: 1, started: 2 } as const

/** The roles' queues and the host's: a run waits on no more. */
const mostQueues = 6

interface WaitingOn {
  readonly taskQueue: string
  readonly type: 'workflow' | 'activity'
  readonly waitingSince: number
}

/**
 * The task queues on which a task of the run waits while no worker polls. Asks the server only about queues on which
 * something has waited for {@link unservedMs}.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function unservedQueues(client: Client, description: Description): Promise<readonly UnservedQueue[]> {
  const own = description.taskQueue
  const waiting = waitingOn(description).slice(0, mostQueues)
  const queues = await Promise.all(
    waiting.map(async ({ taskQueue, type, waitingSince }) => {
      const queue: QueueState = { ...(await describeQueue(client, taskQueue, type)), waitingSince }
      return isUnserved(queue) ? [unservedQueue(queue, own)] : []
    }),
  )
  return queues.flat()
}

/** @param own the queue of the run's workflow, to which the roles' queues belong */
export function unservedQueue({ taskQueue, lastPolledAt, waitingSince = 0 }: QueueState, own: string): UnservedQueue {
  return { taskQueue, role: roleOf(taskQueue, own), waitingSince, lastPolledAt }
}

/** Does the run's workflow have a task that waits for a worker (`scheduled`), or that a worker has (`started`)? */
export function hasTaskIn({ raw }: Pick<Description, 'raw'>, state: keyof typeof taskStates): boolean {
  return Number(raw.pendingWorkflowTask?.state) === taskStates[state]
}

function waitingOn({ raw, taskQueue: own }: Description): readonly WaitingOn[] {
  const found = new Map<string, WaitingOn>()
  const add = (next: WaitingOn): void => {
    const key = `${next.type} ${next.taskQueue}`
    const before = found.get(key)
    if (Date.now() - next.waitingSince < unservedMs) return
    if (!before || before.waitingSince > next.waitingSince) found.set(key, next)
  }
  const { pendingWorkflowTask: task, pendingActivities } = raw
  if (hasTaskIn({ raw }, 'scheduled')) {
    add({ taskQueue: own, type: 'workflow', waitingSince: timeOf(task?.scheduledTime) })
  }
  for (const { state, scheduledTime, activityOptions } of pendingActivities ?? []) {
    const taskQueue = activityOptions?.taskQueue?.name
    // The scheduled time of a retry lies ahead until its pause is over.
    if (Number(state) === taskStates.scheduled && taskQueue) {
      add({ taskQueue, type: 'activity', waitingSince: timeOf(scheduledTime) })
    }
  }
  return [...found.values()]
}

function roleOf(taskQueue: string, own: string): Role | undefined {
  return roles.find((role) => roleQueue(own, role) === taskQueue)
}
