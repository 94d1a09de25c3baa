import { setTimeout as delay } from 'node:timers/promises'
import { type Client, QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { queryRefused } from '../common/queries.js'

/** How long a query that is refused is sent again. A run that makes progress all the time refuses several in a row. */
const patienceMs = 30_000
const pauseMs = 100

/** The message of the SDK for a query without a handler. The client has the same error for every query that fails. */
const noHandler = 'did not register a handler'

export interface Queried {
  readonly workflowId: string
  /** Default: the latest. */
  readonly runId?: string
}

/**
 * Sends a query, again while the worker refuses it (`src/workflows/query-guard.ts`). Gives undefined when the run is over, or
 * has no handler for the query (yet).
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when the query was refused for too long; and what Temporal's client throws
 */
export async function queryRun<Answer>(
  { workflow }: Client,
  { workflowId, runId }: Queried,
  query: string,
): Promise<Answer | undefined> {
  const handle = workflow.getHandle(workflowId, runId)
  const began = performance.now()
  for (;;) {
    try {
      return await handle.query<Answer>(query)
    } catch (thrown) {
      if (thrown instanceof WorkflowNotFoundError) return undefined
      if (!(thrown instanceof QueryNotRegisteredError)) throw thrown
      if (thrown.message.includes(noHandler)) return undefined
      if (!thrown.message.includes(queryRefused)) throw thrown
      // A run that was terminated may refuse for ever.
      if ((await handle.describe()).status.name !== 'RUNNING') return undefined
      if (performance.now() - began > patienceMs) {
        throw new PtcError('TEMPORAL_UNREACHABLE', `run ${workflowId} has refused each query for a while`, {
          hint: 'The run makes progress all the time. Ask again later.',
          cause: thrown,
        })
      }
      await delay(pauseMs)
    }
  }
}
