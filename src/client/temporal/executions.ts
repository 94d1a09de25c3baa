import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { closeEventFilter } from '../api-enums.js'
import type { HistoryEvent } from './event.js'
import { type ExecutionRef, historyPages, type WorkflowExecution } from './history-pages.js'
import { retryRequest } from './retry.js'

/*
 * The executions of a continue-as-new chain. The first event of an execution names its predecessor, the last event its
 * successor.
 */

/**
 * Returns the run ids of the chain from its first execution to this one. Executions that the server no longer has are
 * left out.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE; the signal's reason
 */
export async function listRunIds(client: Client, execution: ExecutionRef, signal?: AbortSignal): Promise<string[]> {
  const { workflowId } = execution
  const requestedRunId = execution.runId ?? (await latestRunId(client, workflowId, signal))
  const runIds = [requestedRunId]
  for (;;) {
    const runId = runIds[0] ?? requestedRunId
    let previousRunId: string | null | undefined
    try {
      const first = await firstEvent(client, { workflowId, runId }, signal)
      previousRunId = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
    } catch (thrown) {
      const isGone = PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND'
      if (!isGone || runIds.length === 1) throw thrown
      return runIds.slice(1)
    }
    if (!previousRunId) return runIds
    runIds.unshift(previousRunId)
  }
}

/**
 * Returns the successor of an execution that has continued as new; undefined when there is none. The execution must not
 * be running: the server would wait for its end.
 */
export async function nextRunId(client: Client, execution: ExecutionRef): Promise<string | undefined> {
  const { workflowService, options } = client
  const { workflowId, runId } = execution
  const request = {
    namespace: options.namespace,
    execution: { workflowId, ...defined({ runId }) },
  }
  const { history } = await retryRequest(
    client,
    () =>
      workflowService.getWorkflowExecutionHistory({
        ...request,
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- see api-enums.ts
        historyEventFilterType: closeEventFilter,
      }),
    { workflowId },
  )
  return history?.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
}

/**
 * Returns the first execution of the chain. A reset keeps it.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE; the signal's reason
 */
export async function firstExecutionRunId(
  client: Client,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<string> {
  const first = await firstEvent(client, execution, signal)
  return first?.workflowExecutionStartedEventAttributes?.firstExecutionRunId || execution.runId
}

/** @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE; the signal's reason */
export async function latestRunId(
  client: Client,
  workflowId: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { workflowService, options } = client
  const request = { namespace: options.namespace, execution: { workflowId } }
  const describeWorkflow = () => workflowService.describeWorkflowExecution(request)
  const { workflowExecutionInfo } = await retryRequest(client, describeWorkflow, { workflowId, signal })
  const runId = workflowExecutionInfo?.execution?.runId
  if (runId) return runId
  throw new PtcError('INTERNAL', `the server described run ${workflowId} without its run id`)
}

async function firstEvent(
  client: Client,
  execution: ExecutionRef,
  signal: AbortSignal | undefined,
): Promise<HistoryEvent | undefined> {
  for await (const [first] of historyPages(client, execution, { signal, follow: false, pageSize: 1 })) {
    if (first) return first
  }
  return undefined
}
