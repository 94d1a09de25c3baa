import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import type { HistoryEvent } from './history/event.js'
import { type Execution, historyPages } from './history-pages.js'
import { askPatiently } from './patience.js'

/*
 * A long run goes on in a fresh history: for Temporal that is a run of its own, and all of them are a chain. Each knows which
 * one it continues, and its last event which one continues it.
 */

/**
 * The runs of a chain up to the one that is asked for, the first first; those that the server no longer has are left out.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE; the signal's reason
 */
export async function runChain(client: Client, execution: Execution, signal?: AbortSignal): Promise<string[]> {
  const { workflowId } = execution
  const asked = execution.runId ?? (await latestRun(client, workflowId, signal))
  const runIds = [asked]
  for (;;) {
    const runId = runIds[0] ?? asked
    let before: string | null | undefined
    try {
      const first = await firstEvent(client, { workflowId, runId }, signal)
      before = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
    } catch (thrown) {
      const isGone = PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND'
      if (!isGone || runIds.length === 1) throw thrown
      return runIds.slice(1)
    }
    if (!before) return runIds
    runIds.unshift(before)
  }
}

/** The run that a continued run went on as. Not for a run that runs: the server would wait for its end. */
export async function continuation(client: Client, execution: Execution): Promise<string | undefined> {
  const { workflowService, options } = client
  const { workflowId, runId } = execution
  const request = {
    namespace: options.namespace,
    execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
  }
  const { history } = await askPatiently(
    client,
    () =>
      workflowService.getWorkflowExecutionHistory({
        ...request,
        // The enum is in a package that we do not depend on by name.
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
        historyEventFilterType: closeEvent,
      }),
    { workflowId },
  )
  return history?.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
}

/** HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT */
const closeEvent = 2

async function latestRun(client: Client, workflowId: string, signal: AbortSignal | undefined): Promise<string> {
  const { workflowService, options } = client
  const request = { namespace: options.namespace, execution: { workflowId } }
  const ask = () => workflowService.describeWorkflowExecution(request)
  const { workflowExecutionInfo } = await askPatiently(client, ask, { workflowId, signal })
  return workflowExecutionInfo?.execution?.runId ?? ''
}

async function firstEvent(
  client: Client,
  execution: Execution,
  signal: AbortSignal | undefined,
): Promise<HistoryEvent | undefined> {
  for await (const [first] of historyPages(client, execution, { signal, follow: false, pageSize: 1 })) {
    if (first) return first
  }
  return undefined
}
