import type { Client } from '@temporalio/client'
import { listRunIds } from '../temporal/executions.js'
import type { HistoryEvent } from '../temporal/event.js'
import { type EventsOptions, type ExecutionRef, historyPages } from '../temporal/history-pages.js'

/**
 * Pages of an ended history that are requested before the caller reads them: about one execution. So the server reads
 * the next execution while this one is interpreted, and two executions at a time.
 */
const pagesAhead = 8

/** A page of one execution's history. May be empty. */
interface RunHistoryPage {
  readonly runId: string
  readonly events: readonly HistoryEvent[]
}

/**
 * Yields the events of a run from its start, as they happen; ends when the run has ended. Follows the continue-as-new
 * chain, where event ids start at 1 in each execution. Resumes after a lost connection.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND; TEMPORAL_UNREACHABLE when the server was unavailable for a minute; the signal's
 * reason
 */
export async function* runEvents(
  client: Client,
  execution: ExecutionRef,
  options: EventsOptions = {},
): AsyncGenerator<HistoryEvent, void, undefined> {
  for await (const { events } of runHistoryPages(client, execution, options)) yield* events
}

/** Like {@link runEvents}, page by page. */
export async function* runHistoryPages(
  client: Client,
  execution: ExecutionRef,
  options: EventsOptions = {},
): AsyncGenerator<RunHistoryPage, void, undefined> {
  const { workflowId } = execution
  const { follow = true } = options
  const count = follow ? 1 : pagesAhead
  const open = (runId: string) => ({
    runId,
    pages: requestAhead(historyPages(client, { workflowId, runId }, options), count),
  })
  const [firstRunId, ...runIds] = await listRunIds(client, execution, options.signal)
  let current = firstRunId === undefined ? undefined : open(firstRunId)
  while (current !== undefined) {
    const { runId, pages } = current
    const [successor] = runIds.splice(0, 1)
    // The server prepares the next history while the caller reads this one.
    let next = successor === undefined ? undefined : open(successor)
    let nextRunId: string | undefined
    for await (const events of pages) {
      nextRunId = nextRunIdIn(events.at(-1)) ?? nextRunId
      yield { runId, events }
    }
    // `runIds` comes first: after a reset, the successor of a predecessor is not the execution of this chain.
    if (next === undefined && nextRunId !== undefined) next = open(nextRunId)
    current = next
  }
}

/**
 * Requests the first values immediately; with a `count` over 1, also each other value before the caller asks for it.
 * The generator answers the requests one after the other.
 */
function requestAhead<Value>(values: AsyncGenerator<Value, void, undefined>, count: number): AsyncIterable<Value> {
  const request = () => {
    const value = values.next()
    value.catch(() => undefined) // the caller may end before it needs the value
    return value
  }
  const requests = Array.from({ length: count }, request)
  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const { value, done } = await (requests.shift() ?? request())
        if (done === true) return
        if (count > 1) requests.push(request())
        yield value
      }
    },
  }
}

function nextRunIdIn(event: HistoryEvent | undefined): string | undefined {
  return event?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
}
