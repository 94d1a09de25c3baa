import type { Client } from '@temporalio/client'
import type { HistoryEvent, RunTree } from '../run-tree/index.js'
import type { ExecutionRef } from '../temporal/history-pages.js'
import { runHistoryPages } from './run-events.js'
import { createBuilder, type TreeOptions } from './watch-run.js'

export interface WaitsOptions extends TreeOptions {
  readonly signal?: AbortSignal
}

/**
 * Yields the trees of a run at the times at which nothing was in progress: no workflow task and no activity, only
 * timers. These times are in the history, so a later reader finds the same ones.
 *
 * @throws errors of {@link runHistoryPages}
 */
export async function* runWaits(
  client: Client,
  execution: ExecutionRef,
  { signal, values, full = false }: WaitsOptions,
): AsyncGenerator<RunTree, void, undefined> {
  const builder = createBuilder(client, execution)
  const work = new OpenWork()
  const options = signal ? { signal } : {}
  const tree = async (): Promise<RunTree> => {
    if (values) await builder.fetchValues(values, full, signal)
    return builder.tree()
  }
  for await (const { events, runId } of runHistoryPages(client, execution, options)) {
    let added = 0
    for (const [position, event] of events.entries()) {
      if (work.isDone && wakesWorkflow(event)) {
        await builder.add(events.slice(added, position), runId)
        added = position
        work.isDone = false
        yield await tree()
      }
      work.read(event)
    }
    await builder.add(events.slice(added), runId)
    // The server writes a workflow task and its commands at once, so the page has all of them. If nothing is in
    // progress at the end of a page, the next page yields the same tree again.
    if (work.isDone && events.length > 0) yield await tree()
  }
}

/** The work in progress of one execution, according to its events. */
class OpenWork {
  #open = 0
  /** True when the last workflow task is completed, and nothing is in progress. */
  isDone = false

  read(event: HistoryEvent): void {
    if (event.workflowExecutionStartedEventAttributes) this.#open = 0
    if (event.activityTaskScheduledEventAttributes || event.startChildWorkflowExecutionInitiatedEventAttributes)
      this.#open += 1
    if (endsWork(event)) this.#open -= 1
    if (event.workflowTaskCompletedEventAttributes) this.isDone = true
    else if (wakesWorkflow(event) || event.workflowExecutionContinuedAsNewEventAttributes) this.isDone = false
    if (this.#open > 0) this.isDone = false
  }
}

function endsWork(event: HistoryEvent): boolean {
  return [
    event.activityTaskCompletedEventAttributes,
    event.activityTaskFailedEventAttributes,
    event.activityTaskTimedOutEventAttributes,
    event.activityTaskCanceledEventAttributes,
    event.startChildWorkflowExecutionFailedEventAttributes,
    event.childWorkflowExecutionCompletedEventAttributes,
    event.childWorkflowExecutionFailedEventAttributes,
    event.childWorkflowExecutionCanceledEventAttributes,
    event.childWorkflowExecutionTerminatedEventAttributes,
    event.childWorkflowExecutionTimedOutEventAttributes,
  ].some(Boolean)
}

/** Returns whether a workflow task follows the event, or the event begins one. */
function wakesWorkflow(event: HistoryEvent): boolean {
  return (
    endsWork(event) ||
    [
      event.workflowTaskScheduledEventAttributes,
      event.timerFiredEventAttributes,
      event.workflowExecutionSignaledEventAttributes,
      event.workflowExecutionCancelRequestedEventAttributes,
      event.childWorkflowExecutionStartedEventAttributes,
    ].some(Boolean)
  )
}
