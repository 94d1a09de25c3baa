import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { type RunTree, RunTreeBuilder } from '../run-tree/index.js'
import { describeRoleQueue, isUnserved } from '../workers/task-queue.js'
import { toUnservedQueue } from '../workers/unserved-queues.js'

/** Interval between two descriptions of the task queue. */
const pollIntervalMs = 1_000

/**
 * Reports that no worker takes the tasks of a session, while its workflow has not accepted an execution yet. Ends when
 * the signal is aborted. Never rejects. Errors are ignored, because the next poll reads the state.
 *
 * @param taskQueue task queue of the session's workflow
 * @param onChange called with a tree without turns after each poll while the queue is unserved, and once when it is
 * served again
 */
export async function watchAcceptance(
  client: Client,
  taskQueue: string,
  onChange: (tree: RunTree) => void,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = Date.now()
  const builder = new RunTreeBuilder({ dataConverter: client.options.loadedDataConverter })
  let wasUnserved = false
  const check = async (): Promise<void> => {
    const queue = await describeRoleQueue(client, taskQueue, 'workflow')
    const unserved = isUnserved(queue) ? [toUnservedQueue(queue, 'workflow')] : []
    if (signal.aborted || (unserved.length === 0 && !wasUnserved)) return
    wasUnserved = unserved.length > 0
    onChange({ ...builder.tree(), unserved, startedAt })
  }
  while (!signal.aborted) {
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await check().catch(() => undefined)
  }
}
