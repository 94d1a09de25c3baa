import type { Client } from '@temporalio/client'
import { runChain } from './chain.js'
import type { HistoryEvent } from './history/event.js'
import { type EventsOptions, type Execution, historyPages } from './history-pages.js'

/** What one history has at once, and whose it is. May be empty. */
export interface RunPage {
  readonly runId: string
  readonly events: readonly HistoryEvent[]
}

/**
 * The events of a run from its beginning, as they happen; ends when the run has ended. A run that goes on in a fresh history is
 * followed there, where event ids begin anew. A connection that breaks is picked up where it was.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE after a minute without a server; the signal's reason
 */
export async function* runEvents(
  client: Client,
  execution: Execution,
  options: EventsOptions = {},
): AsyncGenerator<HistoryEvent, void, undefined> {
  for await (const { events } of runPages(client, execution, options)) yield* events
}

/** As {@link runEvents}, by the page: what the server sends at once. */
export async function* runPages(
  client: Client,
  execution: Execution,
  options: EventsOptions = {},
): AsyncGenerator<RunPage, void, undefined> {
  const { workflowId } = execution
  const known = await runChain(client, execution, options.signal)
  let runId = known.shift()
  while (runId !== undefined) {
    let next: string | undefined
    for await (const events of historyPages(client, { workflowId, runId }, options)) {
      next = continuedAs(events.at(-1)) ?? next
      yield { runId, events }
    }
    // A run that was reset is known by what came before it; what its predecessor went on as is another.
    runId = known.shift() ?? next
  }
}

function continuedAs(event: HistoryEvent | undefined): string | undefined {
  return event?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
}
