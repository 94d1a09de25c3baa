import type { Client } from '@temporalio/client'
import type { HistoryEvent } from './history/event.js'
import { askPatiently } from './patience.js'

export interface EventsOptions {
  readonly signal?: AbortSignal | undefined
  /** Ends with what is there now, instead of waiting for the run's end. */
  readonly follow?: boolean
}

export interface Execution {
  readonly workflowId: string
  readonly runId?: string | undefined
}

interface PagesOptions extends EventsOptions {
  /** Events the server sends at once; default: as many as it likes. */
  readonly pageSize?: number
}

/**
 * One history from its beginning, by the page, as it happens. A page may be empty.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function* historyPages(
  client: Client,
  { workflowId, runId }: Execution,
  { signal, follow = true, pageSize }: PagesOptions = {},
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  const { workflowService, options } = client
  let token: Uint8Array | undefined
  do {
    const request = {
      namespace: options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      waitNewEvent: follow,
      ...(pageSize === undefined ? {} : { maximumPageSize: pageSize }),
      ...(token === undefined ? {} : { nextPageToken: token }),
    }
    const ask = () => workflowService.getWorkflowExecutionHistory(request)
    const page = await askPatiently(client, ask, { workflowId, signal })
    yield page.history?.events ?? []
    token = page.nextPageToken ?? undefined
  } while (token !== undefined && token.length > 0)
}
