import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { type HistoryEvent, type RunTree, RunTreeBuilder } from '../run-tree/index.js'
import type { Unserved } from '../workers/unserved.js'
import { toEventId } from '../temporal/event.js'
import { findUnservedQueues } from '../workers/unserved-queues.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'

/** Interval between two polls of the session. */
const pollIntervalMs = 500

/** A page must stay under the server's limit of 4 MiB. */
const pageSize = 8

interface WatchedExecution extends WorkflowExecution {
  readonly updateId: string
  readonly source: string
}

/**
 * Reports the progress of an execution until the signal is aborted, and then once more. The history of a session may be
 * long, so it is read backwards until the acceptance of the execution. Never rejects. Errors are ignored, because the
 * next poll reads the state.
 */
export async function watchExecution(
  client: Client,
  execution: WatchedExecution,
  onChange: (tree: RunTree) => void,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, loadedDataConverter: dataConverter } = client.options
  const builder = new RunTreeBuilder({ workflowId: execution.workflowId, namespace, dataConverter })
  const startedAt = Date.now()
  let lastEvent = 0
  let unserved: readonly Unserved[] = []
  const poll = async (): Promise<void> => {
    const events = await eventsSince(client, execution, lastEvent)
    lastEvent = Math.max(lastEvent, ...events.map(({ eventId }) => toEventId(eventId)))
    await builder.add(events)
    if (!signal.aborted) {
      const description = await client.workflow.getHandle(execution.workflowId, execution.runId).describe()
      await builder.addPending(description.raw.pendingActivities ?? [])
      unserved = await findUnservedQueues(client, description)
    }
    onChange(selectCell({ ...builder.tree(), unserved, startedAt }, execution.source))
  }
  for (let isLast = false; !isLast;) {
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined)
    // This is read before the poll: the execution may end during the poll, and only another poll sees the end.
    isLast = signal.aborted
    await poll().catch(() => undefined)
  }
}

/**
 * Returns the events after `lastEvent` in order. The first time, returns the events since the acceptance of the
 * execution.
 */
async function eventsSince(
  { workflowService, options: { namespace } }: Client,
  { workflowId, runId, updateId }: WatchedExecution,
  lastEvent: number,
): Promise<readonly HistoryEvent[]> {
  const found: HistoryEvent[] = []
  let nextPageToken: Uint8Array | undefined
  do {
    const page = await workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: pageSize,
      ...defined({ nextPageToken }),
    })
    for (const event of page.history?.events ?? []) {
      if (toEventId(event.eventId) <= lastEvent) return found.toReversed()
      found.push(event)
      if (event.workflowExecutionUpdateAcceptedEventAttributes?.protocolInstanceId === updateId) {
        return found.toReversed()
      }
    }
    nextPageToken = page.nextPageToken
  } while (nextPageToken !== undefined && nextPageToken.length > 0)
  return found.toReversed()
}

/** Returns the tree with only the cell of this execution, because other clients also use the session. */
function selectCell(tree: RunTree, source: string): RunTree {
  const [turn] = tree.turns
  const cell = turn?.cells.find(({ code }) => code === source)
  if (turn === undefined || cell === undefined) return { ...tree, turns: [] }
  const phase = cell.endedAt === undefined ? tree.phase : ({ type: 'ended' } as const)
  return { ...tree, phase, startedAt: cell.startedAt, turns: [{ ...turn, cells: [cell] }] }
}
