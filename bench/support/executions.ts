import type { Client } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'

type Event = temporal.api.history.v1.IHistoryEvent

/** The history of one execution of a continue-as-new chain. */
export interface Execution {
  readonly events: readonly Event[]
  readonly bytes: number
}

/** Returns the executions of an ended run, oldest first. */
export async function executionsOf(client: Client, workflowId: string): Promise<Execution[]> {
  const executions: Execution[] = []
  let runId: string | undefined
  do {
    const handle = client.workflow.getHandle(workflowId, runId)
    const [{ events }, { historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()])
    executions.unshift({ events: events ?? [], bytes: historySize ?? 0 })
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined
  } while (runId !== undefined)
  return executions
}

/** Returns the events with these attributes, with ids and times in milliseconds. */
export function eventsOf<Key extends keyof Event>(events: readonly Event[], key: Key) {
  return events.flatMap((event) => {
    const attributes = event[key]
    if (!attributes) return []
    const { seconds, nanos } = event.eventTime ?? {}
    return [{ id: String(event.eventId), at: Number(seconds) * 1_000 + Number(nanos) / 1e6, attributes }]
  })
}
