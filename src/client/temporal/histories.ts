import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { allWorkflowNames } from '../../common/names.js'
import type { HistoryEvent } from './event.js'
import { historyPages } from './history-pages.js'
import { quoteLiteral } from '../../common/run/list-filter.js'
import { temporalError } from './temporal-error.js'

interface HistoriesOptions {
  readonly taskQueue: string
  readonly limit: number
  /** A list filter of Temporal, in addition to the task queue. */
  readonly query?: string | undefined
}

interface ExecutionHistory {
  readonly workflowId: string
  readonly runId: string
  readonly events: HistoryEvent[]
}

/** The server's maximum. */
const maxPageSize = 1_000

/**
 * Yields the histories of the newest executions of agents, programs, sessions and limiters of tools on a task queue.
 * Each execution of a continue-as-new chain has its own history.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE and others; the signal's reason
 */
export async function* executionHistories(
  client: Client,
  { taskQueue, limit, query }: HistoriesOptions,
  signal: AbortSignal,
): AsyncGenerator<ExecutionHistory, void, undefined> {
  const conditions = [
    `WorkflowType IN (${allWorkflowNames.map(quoteLiteral).join(', ')})`,
    `TaskQueue = ${quoteLiteral(taskQueue)}`,
    ...(query === undefined ? [] : [`(${query})`]),
  ]
  const pageSize = Math.min(limit, maxPageSize)
  const executions = client.workflow.list({ query: conditions.join(' AND '), pageSize })[Symbol.asyncIterator]()
  for (let count = 0; count < limit; count += 1) {
    const next = await executions.next().catch((thrown: unknown) => {
      throw temporalError(thrown, 'list the runs')
    })
    if (next.done === true) return
    const { workflowId, runId } = next.value
    const events = await readEvents(client, { workflowId, runId }, signal)
    if (events !== undefined) yield { workflowId, runId, events }
  }
}

/** Returns undefined when the retention period has ended meanwhile. */
async function readEvents(
  client: Client,
  execution: { readonly workflowId: string; readonly runId: string },
  signal: AbortSignal,
): Promise<HistoryEvent[] | undefined> {
  const events: HistoryEvent[] = []
  try {
    for await (const page of historyPages(client, execution, { signal, follow: false })) events.push(...page)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') return undefined
    throw thrown
  }
  return events
}
