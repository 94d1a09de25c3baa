import type { Client } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'

type Event = temporal.api.history.v1.IHistoryEvent

/** One history of a run that went on in fresh ones. */
export interface ChainRun {
  readonly events: readonly Event[]
  readonly bytes: number
}

/** The histories of a run that has ended, the first first. */
export async function chainOf(client: Client, workflowId: string): Promise<ChainRun[]> {
  const chain: ChainRun[] = []
  let runId: string | undefined
  do {
    const handle = client.workflow.getHandle(workflowId, runId)
    const [{ events }, { historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()])
    chain.unshift({ events: events ?? [], bytes: historySize ?? 0 })
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined
  } while (runId !== undefined)
  return chain
}

/** The events that have these attributes, with their ids and times in milliseconds. */
export function eventsOf<Key extends keyof Event>(events: readonly Event[], key: Key) {
  return events.flatMap((event) => {
    const attributes = event[key]
    if (!attributes) return []
    const { seconds, nanos } = event.eventTime ?? {}
    return [{ id: String(event.eventId), at: Number(seconds) * 1_000 + Number(nanos) / 1e6, attributes }]
  })
}
