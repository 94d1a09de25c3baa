import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import type { HistoryEvent } from './history/event.js'
import { mayPass, temporalError } from './temporal-error.js'

export interface EventsOptions {
  readonly signal?: AbortSignal
  /** Ends with what is there now, instead of waiting for the run's end. */
  readonly follow?: boolean
}

/** The server answers a long poll after 20 s at the latest; a connection that is silent for longer is dead. */
const pollMs = 40_000
/** How long a server may be away before we stop waiting for it. */
const patienceMs = 60_000
const pauseMs = 500

/**
 * The events of one run from its beginning, as they happen; ends when the run has ended. A connection that breaks is
 * picked up where it was.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function* runEvents(
  client: Client,
  execution: Execution,
  options: EventsOptions = {},
): AsyncGenerator<HistoryEvent, void, undefined> {
  for await (const page of historyPages(client, execution, options)) yield* page
}

export interface Execution {
  readonly workflowId: string
  readonly runId?: string
}

/** As {@link runEvents}, by the page: what the server sends at once. A page may be empty. */
export async function* historyPages(
  { connection, workflowService, options: { namespace } }: Client,
  execution: Execution,
  { signal, follow = true }: EventsOptions = {},
): AsyncGenerator<readonly HistoryEvent[], void, undefined> {
  let token: Uint8Array | undefined
  let lastAnswer = Date.now()
  for (;;) {
    signal?.throwIfAborted()
    const ask = () =>
      workflowService.getWorkflowExecutionHistory({
        namespace,
        execution,
        waitNewEvent: follow,
        ...(token === undefined ? {} : { nextPageToken: token }),
      })
    const within = () => connection.withDeadline(Date.now() + pollMs, ask)
    let page: Awaited<ReturnType<typeof ask>>
    try {
      // A signal of its own for each request: the SDK never takes its listener away again.
      page = await (signal ? connection.withAbortSignal(AbortSignal.any([signal]), within) : within())
    } catch (thrown) {
      signal?.throwIfAborted()
      if (!mayPass(thrown) || Date.now() - lastAnswer > patienceMs) {
        throw temporalError(thrown, `follow run ${execution.workflowId}`, execution.workflowId)
      }
      await delay(pauseMs, undefined, signal ? { signal } : {})
      continue
    }
    lastAnswer = Date.now()
    yield page.history?.events ?? []
    if (page.nextPageToken === null || page.nextPageToken === undefined || page.nextPageToken.length === 0) return
    token = page.nextPageToken
  }
}
