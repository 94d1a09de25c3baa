import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { activityNames, backendOfQueue, type Role, roleQueue, roles } from '../../common/names.js'
import { pendingStates } from '../api-enums.js'
import { type WorkflowDescription, toMilliseconds } from '../temporal/event.js'
import { PayloadReader } from '../temporal/payload-reader.js'
import type { FailingActivity, Unserved, UnservedQueue } from './unserved.js'
import { describeTaskQueue, isUnserved, type TaskQueueStatus, unservedAfterMs } from './task-queue.js'
import { findUnservedOperations } from './unserved-operations.js'

/** Maximum number of queues. Eight are queues of roles and sandboxes, and the others are queues of tools. */
const maxQueues = 20

/** Maximum number of returned activities of the engine that fail. */
const maxFailing = 3

/** Maximum number of child workflows that are described, in the order of their start. */
const maxChildren = 5

interface WaitingQueue {
  readonly taskQueue: string
  readonly type: 'workflow' | 'activity'
  readonly waitingSince: number
  /** Activity or workflow type, unless the queue belongs to the engine. */
  readonly waitingType?: string
}

/**
 * Finds the task queues on which a task of the run waits while no worker polls, Nexus endpoints that do not start an
 * operation, and activities of the engine that fail and are retried. Sends a request only for a task that has waited
 * for {@link unservedAfterMs}.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE, ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
 */
export async function findUnservedQueues(
  client: Client,
  description: WorkflowDescription,
): Promise<readonly Unserved[]> {
  const workflowQueue = description.taskQueue
  const waiting = [...findWaitingQueues(description), ...(await findWaitingChildren(client, description))]
  const queues = await Promise.all(
    waiting.slice(0, maxQueues).map(async ({ taskQueue, type, waitingSince, waitingType }) => {
      const queue: TaskQueueStatus = { ...(await describeTaskQueue(client, taskQueue, type)), waitingSince }
      if (!isUnserved(queue)) return []
      const role = waitingType === undefined ? roleOf(taskQueue, type, workflowQueue) : undefined
      const sandbox = role === 'sandbox' ? backendOfQueue(workflowQueue, taskQueue) : undefined
      const waits = defined({ sandbox, waitingType })
      return [{ ...toUnservedQueue(queue, role), ...waits }]
    }),
  )
  const [operations, failing] = await Promise.all([
    findUnservedOperations(client, description),
    findFailingActivities(client, description),
  ])
  return [...queues.flat(), ...operations, ...failing]
}

/**
 * Activities that are not reported here: their attempts are shown as attempts of a turn or a call, or have no
 * information, because an interrupt is sent until its code runs.
 */
const attemptsShownElsewhere: readonly string[] = [
  activityNames.modelTurn,
  activityNames.compactMessages,
  activityNames.clientCall,
  activityNames.interruptSession,
]

async function findFailingActivities(
  client: Client,
  { raw }: WorkflowDescription,
): Promise<readonly FailingActivity[]> {
  const pending = (raw.pendingActivities ?? []).filter(
    ({ state, lastFailure, heartbeatDetails }) =>
      lastFailure || (heartbeatDetails && Number(state) === pendingStates.started),
  )
  if (pending.length === 0) return []
  const reader = new PayloadReader(client.options.loadedDataConverter)
  const messages = pending.flatMap(({ lastFailure, heartbeatDetails }) => [lastFailure ?? [], heartbeatDetails ?? []])
  await reader.prepare(messages.flat())
  return pending
    .flatMap(({ activityType, attempt, lastFailure, heartbeatDetails }) => {
      const activity = activityType?.name ?? ''
      const failedAttempts = (attempt ?? 1) - 1
      const waits = reader.waitNote(heartbeatDetails)
      if (waits !== undefined) return [{ activity, failedAttempts, reason: waits }]
      const isShown = !isEngineActivity(activity) || attemptsShownElsewhere.includes(activity)
      if (isShown || failedAttempts === 0 || !lastFailure) return []
      return [{ activity, failedAttempts, reason: reader.failure(lastFailure)?.message ?? '' }]
    })
    .slice(0, maxFailing)
}

/** Finds the task queues on which the child workflows of remote tools wait. */
async function findWaitingChildren(client: Client, { raw }: WorkflowDescription): Promise<readonly WaitingQueue[]> {
  const children = (raw.pendingChildren ?? []).slice(0, maxChildren)
  const waiting = await Promise.all(
    children.map(async ({ workflowId, workflowTypeName }) => {
      // The child may have ended meanwhile, or be in another namespace.
      const child = await client.workflow
        .getHandle(workflowId ?? '')
        .describe()
        .catch(() => undefined)
      const waitingSince = child && workflowTaskWaitingSince(child)
      if (!child || waitingSince === undefined || Date.now() - waitingSince < unservedAfterMs) return []
      const waitingType = workflowTypeName ?? child.type
      return [{ taskQueue: child.taskQueue, type: 'workflow', waitingSince, waitingType } as const]
    }),
  )
  return waiting.flat()
}

export function toUnservedQueue(
  { taskQueue, lastPolledAt, waitingSince = 0 }: TaskQueueStatus,
  role: Role | undefined,
): UnservedQueue {
  return { taskQueue, role, waitingSince, lastPolledAt }
}

/** Returns whether a worker has the workflow task of the run. */
export function isWorkflowTaskStarted({ raw }: Pick<WorkflowDescription, 'raw'>): boolean {
  return Number(raw.pendingWorkflowTask?.state) === pendingStates.started
}

/** Returns the time at which the waiting workflow task was scheduled; undefined when none waits. */
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
  for (const { state, scheduledTime, activityOptions, activityType } of raw.pendingActivities ?? []) {
    const taskQueue = activityOptions?.taskQueue?.name
    // The scheduled time of a retry is in the future until its backoff is over.
    if (Number(state) === pendingStates.scheduled && taskQueue) {
      const isOfTool =
        roleOf(taskQueue, 'activity', workflowQueue) === undefined && !isEngineActivity(activityType?.name)
      const waitingType = isOfTool ? (activityType?.name ?? undefined) : undefined
      const waitingSince = toMilliseconds(scheduledTime)
      add({ taskQueue, type: 'activity', waitingSince, ...defined({ waitingType }) })
    }
  }
  return [...found.values()]
}

/** Returns whether the activity type belongs to the queue of a sandbox host. */
function isEngineActivity(type: string | null | undefined): boolean {
  return Object.values(activityNames).some((name) => name === type)
}

/** @param workflowQueue task queue of the run's workflow; the names of the roles' queues are derived from it */
function roleOf(taskQueue: string, type: WaitingQueue['type'], workflowQueue: string): Role | undefined {
  if (type === 'workflow') return 'workflow'
  if (backendOfQueue(workflowQueue, taskQueue) !== undefined) return 'sandbox'
  return roles.find((role) => roleQueue(workflowQueue, role) === taskQueue)
}
