import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { describeLatestExecution } from '../temporal/describe-execution.js'
import type { ExecutionRef } from '../temporal/history-pages.js'
import { describeRoleQueue, isUnserved, type TaskQueueStatus, unservedAfterMs } from './task-queue.js'
import { describeUnserved } from './unserved-queue.js'
import { isFailedPrecondition } from '../temporal/temporal-error.js'
import { isWorkflowTaskStarted, workflowTaskWaitingSince } from './unserved-queues.js'
import { withRequestSignal } from '../temporal/request-signal.js'

/** The task queue of a workflow that no worker polls. */
type UnservedWorkflowQueue = Pick<TaskQueueStatus, 'taskQueue' | 'lastPolledAt' | 'waitingSince'>

/** Interval between two descriptions of the run. */
const pollIntervalMs = 1_000

/**
 * For 10 seconds, the server offers a query only to the last worker of the workflow, on the sticky queue of that
 * worker.
 */
const unansweredQueryMs = 10_000 + unservedAfterMs

/** Maximum wait for a busy worker, which takes a task later. */
const pickupTimeoutMs = 20_000
const pickupPollIntervalMs = 250

interface AwaitedWork {
  /** The action that fails without a worker, for the error: `can't ask session books`. */
  readonly failedAction: string
  /**
   * True for a query. Temporal does not list queries as tasks, so the worker counts as missing when no worker polls
   * during the query.
   */
  readonly isQuery: boolean
}

/**
 * Performs the work. Fails with WORKER_MISSING when no worker polls the run's workflow task queue meanwhile.
 *
 * @throws PtcError WORKER_MISSING; and errors of `work`
 */
export async function failWithoutWorker<Result>(
  client: Client,
  execution: ExecutionRef,
  { failedAction, isQuery }: AwaitedWork,
  work: () => Promise<Result>,
): Promise<Result> {
  const finished = new AbortController()
  const workerMissing = waitUntilUnserved(client, execution, isQuery, finished.signal).then((queue) => {
    throw workerMissingError(failedAction, queue)
  })
  try {
    return await Promise.race([withRequestSignal(client, finished.signal, work), workerMissing])
  } catch (thrown) {
    if (!isFailedPrecondition(thrown)) throw thrown
    const { taskQueue } = await describeLatestExecution(client, execution)
    throw workerMissingError(failedAction, await describeRoleQueue(client, taskQueue, 'workflow'), thrown)
  } finally {
    finished.abort()
  }
}

/**
 * Waits until a worker has taken the workflow task of a signal or cancellation, for at most 20 s.
 *
 * @returns the task queue when no worker polls it
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function waitForTaskPickup(
  client: Client,
  execution: ExecutionRef,
): Promise<UnservedWorkflowQueue | undefined> {
  const startedAt = performance.now()
  for (;;) {
    const description = await describeLatestExecution(client, execution)
    const waitingSince = workflowTaskWaitingSince(description)
    if (waitingSince === undefined || performance.now() - startedAt > pickupTimeoutMs) return undefined
    const queue = await describeRoleQueue(client, description.taskQueue, 'workflow')
    if (queue.pollers === 0 || isUnserved({ ...queue, waitingSince })) return { ...queue, waitingSince }
    await delay(pickupPollIntervalMs)
  }
}

/** Rejects when the signal is aborted first. Other errors are ignored, because the next poll reads the state. */
async function waitUntilUnserved(
  client: Client,
  execution: ExecutionRef,
  isQuery: boolean,
  signal: AbortSignal,
): Promise<UnservedWorkflowQueue> {
  const startedAt = performance.now()
  let firstStatus: TaskQueueStatus | undefined
  const check = async (): Promise<UnservedWorkflowQueue | undefined> => {
    const description = await describeLatestExecution(client, execution)
    const waitingSince = workflowTaskWaitingSince(description)
    if (waitingSince === undefined && !isQuery) return undefined
    const queue = await describeRoleQueue(client, description.taskQueue, 'workflow')
    if (waitingSince !== undefined && isUnserved({ ...queue, waitingSince })) return { ...queue, waitingSince }
    if (!isQuery) return undefined
    firstStatus ??= queue
    const isPolled = queue.lastPolledAt !== firstStatus.lastPolledAt || isWorkflowTaskStarted(description)
    return isPolled || performance.now() - startedAt < unansweredQueryMs ? undefined : queue
  }
  for (;;) {
    await delay(pollIntervalMs, undefined, { signal })
    const unserved = await check().catch(() => undefined)
    if (unserved !== undefined) return unserved
  }
}

function workerMissingError(failedAction: string, queue: UnservedWorkflowQueue, cause?: unknown): PtcError {
  const reason = describeUnserved({ ...queue, role: 'workflow' }, Date.now())
  return new PtcError('WORKER_MISSING', `${failedAction}: ${reason}`, cause === undefined ? {} : { cause })
}
