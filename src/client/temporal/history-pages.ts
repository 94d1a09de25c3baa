import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import type { HistoryEvent } from './event.js'
import { retryRequest } from './retry.js'

export interface EventsOptions {
  readonly signal?: AbortSignal | undefined
  /** When false, the pages end with the events that exist now. Default: they end with the run. */
  readonly follow?: boolean
}

export interface ExecutionRef {
  readonly workflowId: string
  readonly runId?: string | undefined
}

export interface WorkflowExecution extends ExecutionRef {
  readonly runId: string
}

/**
 * A run that makes calls all the time has a new page every few milliseconds. After the first pages, there is a minimum
 * time between two requests, so that pages have more events. After a page with many events, the next request follows at
 * once, because more events exist.
 */
const unpacedPages = 20
const pageIntervalMs = 250
const largePageEvents = 100

interface PagesOptions extends EventsOptions {
  /** Maximum number of events in a page; default: the server's. */
  readonly pageSize?: number
}

/**
 * Yields the history of one execution from its start, page by page, as it grows. A page may be empty.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function* historyPages(
  client: Client,
  execution: ExecutionRef,
  options: PagesOptions = {},
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  const { signal, follow = true } = options
  const requestNext = (token?: Uint8Array) => ({
    requestedAt: performance.now(),
    page: requestPage(client, execution, options, token),
  })
  let request = requestNext()
  let smallPages = 0
  for (;;) {
    const { requestedAt } = request
    const { history, nextPageToken } = await request.page
    const events = history?.events ?? []
    const token = nextPageToken?.length ? nextPageToken : undefined
    if (token !== undefined && !follow) {
      // The server prepares the next page while the caller reads this one.
      request = requestNext(token)
      request.page.catch(() => undefined) // the caller may end before it needs the page
    }
    yield events
    if (token === undefined) return
    if (!follow) continue
    const isPaced = events.length < largePageEvents && ++smallPages > unpacedPages
    if (isPaced) await pause(requestedAt + pageIntervalMs - performance.now(), signal)
    request = requestNext(token)
  }
}

function requestPage(
  client: Client,
  { workflowId, runId }: ExecutionRef,
  { signal, follow = true, pageSize }: PagesOptions,
  nextPageToken?: Uint8Array,
) {
  const { workflowService, options } = client
  const request = {
    namespace: options.namespace,
    execution: { workflowId, ...defined({ runId }) },
    waitNewEvent: follow,
    ...defined({ maximumPageSize: pageSize, nextPageToken }),
  }
  const fetchPage = () => workflowService.getWorkflowExecutionHistory(request)
  return retryRequest(client, fetchPage, { workflowId, signal })
}

/** @throws the signal's reason */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
