import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { describeCurrent } from './describe-run.js'
import type { Description } from './history/event.js'
import type { Execution } from './history-pages.js'
import { describeRole, type QueueState, unservedMs } from './pollers.js'
import { describeUnserved } from './render/unserved-queue.js'
import { saysNoPoller } from './temporal-error.js'
import { hasTaskIn, unservedQueues } from './unserved.js'

/** A workflow's task queue, as {@link describeUnserved} takes it. */
export type MissingWorker = Pick<QueueState, 'taskQueue' | 'lastPolledAt' | 'waitingSince'>

/** How often a run is looked at. */
const lookMs = 1_000

/** For 10 seconds the server offers a query only to the worker that had the workflow last, which is not on the task queue. */
const queryMs = 10_000 + unservedMs

/** Workers that poll and have much to do take a task later; so long it is waited for, with a look so often. */
const takenMs = 20_000
const pauseMs = 250

export interface Awaited {
  /** What can't be done without a worker, for the error: `can't ask session books`. */
  readonly what: string
  /** Temporal does not list queries as tasks: their worker is missing when nobody polls while they wait. */
  readonly isQuery: boolean
}

/**
 * Waits for what a run's workflow is to do, as long as a worker takes its tasks.
 *
 * @throws PtcError WORKER_MISSING; and what `work` throws
 */
export async function whileServed<Result>(
  client: Client,
  execution: Execution,
  { what, isQuery }: Awaited,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const missing = untilUnserved(client, execution, isQuery, over.signal).then((queue) => {
    throw workerMissing(what, queue)
  })
  try {
    return await Promise.race([client.connection.withAbortSignal(over.signal, work), missing])
  } catch (thrown) {
    if (!saysNoPoller(thrown)) throw thrown
    const { taskQueue } = await describeCurrent(client, execution)
    throw workerMissing(what, await describeRole(client, taskQueue, 'workflow'), thrown)
  } finally {
    over.abort()
  }
}

/**
 * Waits until a worker has taken the task that a signal or a cancellation gave to a workflow, for some seconds.
 *
 * @returns the task queue when no worker takes it
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function queueOfUntakenTask(client: Client, execution: Execution): Promise<MissingWorker | undefined> {
  const began = performance.now()
  for (;;) {
    const description = await describeCurrent(client, execution)
    if (!hasTaskIn(description, 'scheduled') || performance.now() - began > takenMs) return undefined
    const queue = await describeRole(client, description.taskQueue, 'workflow')
    if (queue.pollers === 0) return queue
    const unserved = await unservedWorkflowQueue(client, description)
    if (unserved !== undefined) return unserved
    await delay(pauseMs)
  }
}

/** Never resolves when the signal is aborted before. What can't be seen now may be seen at the next look. */
async function untilUnserved(
  client: Client,
  execution: Execution,
  isQuery: boolean,
  signal: AbortSignal,
): Promise<MissingWorker> {
  const began = performance.now()
  let first: QueueState | undefined
  const look = async (): Promise<MissingWorker | undefined> => {
    const description = await describeCurrent(client, execution)
    const unserved = await unservedWorkflowQueue(client, description)
    if (unserved !== undefined || !isQuery) return unserved
    const queue = await describeRole(client, description.taskQueue, 'workflow')
    first ??= queue
    const isPolled = queue.lastPolledAt !== first.lastPolledAt || hasTaskIn(description, 'started')
    return isPolled || performance.now() - began < queryMs ? undefined : queue
  }
  for (;;) {
    await delay(lookMs, undefined, { signal })
    const unserved = await look().catch(() => undefined)
    if (unserved !== undefined) return unserved
  }
}

async function unservedWorkflowQueue(client: Client, description: Description): Promise<MissingWorker | undefined> {
  return (await unservedQueues(client, description)).find(({ role }) => role === 'workflow')
}

function workerMissing(what: string, queue: MissingWorker, cause?: unknown): PtcError {
  const why = describeUnserved({ ...queue, role: 'workflow' }, Date.now())
  return new PtcError('WORKER_MISSING', `${what}: ${why}`, cause === undefined ? {} : { cause })
}
