import type { Client, WorkflowHandle } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'

/** The events of one run. */
export interface History {
  readonly events: temporal.api.history.v1.IHistoryEvent[]
}

/** Bytes of a history that goes into one page, whatever is in it: the server sends none of over 4 MiB. */
const onePageBytes = 2 << 20

/**
 * The events of a workflow's run; of its latest unless told. A large history comes in small pages: the client's own fetchHistory waits
 * for ever for one that the server can't send.
 */
export async function readHistory(client: Client, workflowId: string, runId?: string): Promise<History> {
  const { historySize = 0 } = await client.workflow.getHandle(workflowId, runId).describe()
  const events: temporal.api.history.v1.IHistoryEvent[] = []
  let nextPageToken: Uint8Array | undefined
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      maximumPageSize: historySize < onePageBytes ? 1_000 : 4,
      ...(nextPageToken && { nextPageToken }),
    })
    events.push(...(page.history?.events ?? []))
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
  return { events }
}

/** The histories of a run that went on in fresh ones, the first first. */
export async function executionHistories(
  client: Client,
  { workflowId }: Pick<WorkflowHandle, 'workflowId'>,
): Promise<History[]> {
  const chain: History[] = []
  let runId: string | null | undefined
  do {
    const history = await readHistory(client, workflowId, runId ?? undefined)
    chain.unshift(history)
    runId = history.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
  } while (runId)
  return chain
}

/** What the activities of one run gave, as JSON texts, in the order in which they ended. */
export function activityResultTexts({ events }: Pick<History, 'events'>): readonly string[] {
  const payloads = events.flatMap((event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [])
  return payloads.map(({ data }) => Buffer.from(data ?? []).toString())
}

/** Activities of a type that were completed, over a chain. */
export function completedActivityCount(chain: readonly History[], type: string): number {
  return chain
    .map(({ events }) => {
      const scheduled = new Set(
        events
          .filter(({ activityTaskScheduledEventAttributes: at }) => at?.activityType?.name === type)
          .map(({ eventId }) => String(eventId)),
      )
      return events.filter(
        ({ activityTaskCompletedEventAttributes: at }) => at && scheduled.has(String(at.scheduledEventId)),
      ).length
    })
    .reduce((sum, count) => sum + count, 0)
}
