import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { type HistoryEvent, type RunTree, RunTreeBuilder, type UnservedQueue } from '../history/index.js'
import { idOf } from '../history/event.js'
import { unservedQueues } from '../unserved.js'
import type { Located } from './name.js'

/** How often the session is looked at. */
const lookMs = 500

/** Events asked for at once: a page must stay under the 4 MiB that a server sends. */
const pageSize = 8

export interface WatchedExecution extends Located {
  readonly updateId: string
  readonly source: string
}

/**
 * Tells what an execution does, until the signal is aborted, and then once more. The history of a session may be long: it is read
 * from its end, back to where the execution was accepted. Never rejects: what can't be seen now may be seen at the next look.
 */
export async function watchExecution(
  client: Client,
  execution: WatchedExecution,
  onChange: (tree: RunTree) => void,
  signal: AbortSignal,
): Promise<void> {
  const builder = new RunTreeBuilder({ dataConverter: client.options.loadedDataConverter })
  const startedAt = Date.now()
  let lastEvent = 0
  let unserved: readonly UnservedQueue[] = []
  const look = async (): Promise<void> => {
    const events = await eventsSince(client, execution, lastEvent)
    lastEvent = Math.max(lastEvent, ...events.map(({ eventId }) => idOf(eventId)))
    await builder.add(events)
    if (!signal.aborted) {
      const description = await client.workflow.getHandle(execution.workflowId, execution.runId).describe()
      await builder.addPending(description.raw.pendingActivities ?? [])
      unserved = await unservedQueues(client, description)
    }
    onChange(onlyCell({ ...builder.tree(), unserved, startedAt }, execution.source))
  }
  for (let isLast = false; !isLast;) {
    await delay(lookMs, undefined, { signal }).catch(() => undefined)
    // Not after the look: the execution may end during it, and then only another look sees the end.
    isLast = signal.aborted
    await look().catch(() => undefined)
  }
}

/** New events in their order; the first time, those since the execution was accepted. */
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
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    })
    for (const event of page.history?.events ?? []) {
      if (idOf(event.eventId) <= lastEvent) return found.toReversed()
      found.push(event)
      if (event.workflowExecutionUpdateAcceptedEventAttributes?.protocolInstanceId === updateId) {
        return found.toReversed()
      }
    }
    nextPageToken = page.nextPageToken
  } while (nextPageToken !== undefined && nextPageToken.length > 0)
  return found.toReversed()
}

/** Others execute on the session too, before it is our turn and after. */
function onlyCell(tree: RunTree, source: string): RunTree {
  const [turn] = tree.turns
  const cell = turn?.cells.find(({ code }) => code === source)
  if (turn === undefined || cell === undefined) return { ...tree, turns: [] }
  const phase = cell.endedAt === undefined ? tree.phase : ({ type: 'ended' } as const)
  return { ...tree, phase, startedAt: cell.startedAt, turns: [{ ...turn, cells: [cell] }] }
}
