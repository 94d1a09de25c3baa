import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { type RunTree, RunTreeBuilder } from '../history/index.js'
import { describeRole, isUnserved } from '../pollers.js'
import { unservedQueue } from '../unserved.js'

/** How often the task queue is looked at. */
const lookMs = 1_000

/**
 * Tells that no worker takes the tasks of a session, while its workflow has not accepted an execution yet. Ends when the
 * signal is aborted. Never rejects: what can't be seen now may be seen at the next look.
 *
 * @param taskQueue of the session's workflow
 * @param onChange called with a tree that has no turns, whenever the queue is unserved, and once when it is no longer
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
  const look = async (): Promise<void> => {
    const queue = await describeRole(client, taskQueue, 'workflow')
    const unserved = isUnserved(queue) ? [unservedQueue(queue, taskQueue)] : []
    if (signal.aborted || (unserved.length === 0 && !wasUnserved)) return
    wasUnserved = unserved.length > 0
    onChange({ ...builder.tree(), unserved, startedAt })
  }
  while (!signal.aborted) {
    await delay(lookMs, undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await look().catch(() => undefined)
  }
}
