import type { Client } from '@temporalio/client'
import { type Role, roleQueue, roles } from '../../common/names.js'
import { pendingStates } from '../api-enums.js'
import { type WorkflowDescription, toMilliseconds } from '../run-tree/history/event.js'
import type { UnservedQueue } from '../run-tree/index.js'
import { describeTaskQueue, isUnserved, type TaskQueueStatus, unservedAfterMs } from './task-queue.js'

/** The queues of the roles and of the sandbox host: a run has no others. */
const maxQueues = 7

interface WaitingQueue {
  readonly taskQueue: string
  readonly type: 'workflow' | 'activity'
  readonly waitingSince: number
}

/**
 * The task queues on which a task of the run waits while no worker polls. Sends a request only for a queue on which a
 * task has waited for {@link unservedAfterMs}.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function findUnservedQueues(
  client: Client,
  description: WorkflowDescription,
): Promise<readonly UnservedQueue[]> {
  const workflowQueue = description.taskQueue
  const waiting = findWaitingQueues(description).slice(0, maxQueues)
  const queues = await Promise.all(
    waiting.map(async ({ taskQueue, type, waitingSince }) => {
      const queue: TaskQueueStatus = { ...(await describeTaskQueue(client, taskQueue, type)), waitingSince }
      return isUnserved(queue) ? [toUnservedQueue(queue, roleOf(taskQueue, type, workflowQueue))] : []
    }),
  )
  return queues.flat()
}

export function toUnservedQueue(
  { taskQueue, lastPolledAt, waitingSince = 0 }: TaskQueueStatus,
  role: Role | undefined,
): UnservedQueue {
  return { taskQueue, role, waitingSince, lastPolledAt }
}

/** Whether a worker has the workflow task of the run. */
export function isWorkflowTaskStarted({ raw }: Pick<WorkflowDescription, 'raw'>): boolean {
  return Number(raw.pendingWorkflowTask?.state) === pendingStates.started
}

/** When the workflow task that waits for a worker was scheduled; undefined when none waits. */
export function workflowTaskWaitingSince({ raw }: Pick<WorkflowDescription, 'raw'>): number | undefined {
  const task = raw.pendingWorkflowTask
  return Number(task?.state) === pendingStates.scheduled ? toMilliseconds(task?.scheduledTime) : undefined
}

function findWaitingQueues({ raw, taskQueue: workflowQueue }: WorkflowDescription): readonly WaitingQueue[] {
  const found = new Map<string, WaitingQueue>()
  const add = (queue: WaitingQueue): void => {
    const key = `${queue.type} ${queue.taskQueue}`
    const known = found.get(key)
    if (Date.now() - queue.waitingSince < unservedAfterMs) return
    if (!known || known.waitingSince > queue.waitingSince) found.set(key, queue)
  }
  const workflowWaitingSince = workflowTaskWaitingSince({ raw })
  if (workflowWaitingSince !== undefined) {
    add({ taskQueue: workflowQueue, type: 'workflow', waitingSince: workflowWaitingSince })
  }
  for (const { state, scheduledTime, activityOptions } of raw.pendingActivities ?? []) {
    const taskQueue = activityOptions?.taskQueue?.name
    // The scheduled time of a retry is in the future until its backoff is over.
    if (Number(state) === pendingStates.scheduled && taskQueue) {
      add({ taskQueue, type: 'activity', waitingSince: toMilliseconds(scheduledTime) })
    }
  }
  return [...found.values()]
}

/** @param workflowQueue task queue of the run's workflow; the names of the roles' queues derive from it */
function roleOf(taskQueue: string, type: WaitingQueue['type'], workflowQueue: string): Role | undefined {
  return type === 'workflow' ? 'workflow' : roles.find((role) => roleQueue(workflowQueue, role) === taskQueue)
}
