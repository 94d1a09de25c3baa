import type { Client } from '@temporalio/client'
import type { HistoryEvent } from '../run-tree/history/event.js'
import { retryRequest } from './retry.js'

export interface EventsOptions {
  readonly signal?: AbortSignal | undefined
  /** False: end with the events that exist now. Default: wait for the run's end. */
  readonly follow?: boolean
}

export interface ExecutionRef {
  readonly workflowId: string
  readonly runId?: string | undefined
}

interface PagesOptions extends EventsOptions {
  /** Maximum number of events in a page; default: the server's. */
  readonly pageSize?: number
}

/**
 * The history of one execution from its beginning, page by page, as it grows. A page may be empty.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function* historyPages(
  client: Client,
  { workflowId, runId }: ExecutionRef,
  { signal, follow = true, pageSize }: PagesOptions = {},
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  const { workflowService, options } = client
  let nextPageToken: Uint8Array | undefined
  do {
    const request = {
      namespace: options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      waitNewEvent: follow,
      ...(pageSize === undefined ? {} : { maximumPageSize: pageSize }),
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    }
    const fetchPage = () => workflowService.getWorkflowExecutionHistory(request)
    const page = await retryRequest(client, fetchPage, { workflowId, signal })
    yield page.history?.events ?? []
    nextPageToken = page.nextPageToken ?? undefined
  } while (nextPageToken !== undefined && nextPageToken.length > 0)
}
