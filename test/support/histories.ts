import type { Client, WorkflowHandle } from '@temporalio/client'
import type { temporal } from '@temporalio/proto'

/** The events of one run. */
export interface History {
  readonly events: temporal.api.history.v1.IHistoryEvent[]
}

/**
 * The events of a workflow's run; of its latest unless told. In small pages: the server can't send a page of over 4 MiB, which the
 * client's own fetchHistory waits for.
 */
export async function historyOf(client: Client, workflowId: string, runId?: string): Promise<History> {
  const events: temporal.api.history.v1.IHistoryEvent[] = []
  let nextPageToken: Uint8Array | undefined
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      maximumPageSize: 4,
      ...(nextPageToken && { nextPageToken }),
    })
    events.push(...(page.history?.events ?? []))
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
  return { events }
}

/** The histories of a run that went on in fresh ones, the first first. */
export async function chainOf(client: Client, { workflowId }: Pick<WorkflowHandle, 'workflowId'>): Promise<History[]> {
  const chain: History[] = []
  let runId: string | null | undefined
  do {
    const history = await historyOf(client, workflowId, runId ?? undefined)
    chain.unshift(history)
    runId = history.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
  } while (runId)
  return chain
}

/** Activities of a type that were completed, over a chain. */
export function completedCount(chain: readonly History[], type: string): number {
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
