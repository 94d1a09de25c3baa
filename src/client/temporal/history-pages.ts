import { setTimeout as delay } from 'node:timers/promises'
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

/**
 * A run that makes calls all the time has a new page every few milliseconds. After the first pages, at least so many
 * milliseconds pass from one request to the next, so that pages have more events. A page with many events is followed at
 * once by the next one: there is more.
 */
const unpacedPages = 20
const pageIntervalMs = 100
const largePageEvents = 100

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
  let smallPages = 0
  for (;;) {
    const requestedAt = performance.now()
    const request = {
      namespace: options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      waitNewEvent: follow,
      ...(pageSize === undefined ? {} : { maximumPageSize: pageSize }),
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    }
    const fetchPage = () => workflowService.getWorkflowExecutionHistory(request)
    const page = await retryRequest(client, fetchPage, { workflowId, signal })
    const events = page.history?.events ?? []
    yield events
    nextPageToken = page.nextPageToken ?? undefined
    if (nextPageToken === undefined || nextPageToken.length === 0) return
    if (!follow || events.length >= largePageEvents || ++smallPages <= unpacedPages) continue
    const pauseMs = pageIntervalMs - (performance.now() - requestedAt)
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}
