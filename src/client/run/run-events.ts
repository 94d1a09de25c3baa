import type { Client } from '@temporalio/client'
import { listRunIds } from '../temporal/executions.js'
import type { HistoryEvent } from '../temporal/event.js'
import { type EventsOptions, type ExecutionRef, historyPages } from '../temporal/history-pages.js'

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
  const open = (runId: string) => ({ runId, pages: requestFirst(historyPages(client, { workflowId, runId }, options)) })
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

/** Requests the first value immediately, and the others when the caller asks for them. */
function requestFirst<Value>(values: AsyncGenerator<Value, void, undefined>): AsyncIterable<Value> {
  const first = values.next()
  first.catch(() => undefined) // the caller may end before it needs the value
  return {
    async *[Symbol.asyncIterator]() {
      const { value, done } = await first
      if (done === true) return
      yield value
      yield* values
    },
  }
}

function nextRunIdIn(event: HistoryEvent | undefined): string | undefined {
  return event?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
}
