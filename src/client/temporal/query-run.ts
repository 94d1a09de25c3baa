import { setTimeout as delay } from 'node:timers/promises'
import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { queryRefusedMessage } from '../../common/names.js'

/**
 * Maximum milliseconds during which a refused query is retried. A run in constant progress refuses several consecutive
 * queries.
 */
const maxRefusedMs = 30_000
const retryIntervalMs = 100

/** The SDK's message for a query without a handler. The error class is the same for every failed query. */
const noHandlerMessage = 'did not register a handler'

/** The server's message for a query when the worker stopped before it responded. */
const workerGoneMessage = 'context canceled'

interface QueriedExecution {
  readonly workflowId: string
  /** Id of the execution. Default: the latest. */
  readonly runId?: string
}

/**
 * Sends a query and retries it while the worker refuses it (`src/workflows/temporal/query-guard.ts`), or stops before
 * it responds. Returns undefined when the run has ended, or has no handler for the query yet.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE when the query was refused for too long; and errors of Temporal's client
 */
export async function queryRun<Result>(
  { workflow }: Client,
  { workflowId, runId }: QueriedExecution,
  query: string,
): Promise<Result | undefined> {
  const handle = workflow.getHandle(workflowId, runId)
  const startedAt = performance.now()
  for (;;) {
    try {
      return await handle.query<Result>(query)
    } catch (thrown) {
      if (thrown instanceof WorkflowNotFoundError) return undefined
      if (thrown instanceof QueryNotRegisteredError) {
        if (thrown.message.includes(noHandlerMessage)) return undefined
        if (!thrown.message.includes(queryRefusedMessage)) throw thrown
      } else if (!isWorkerGone(thrown)) throw thrown
      // A terminated run may refuse every query.
      if ((await handle.describe()).status.name !== 'RUNNING') return undefined
      if (performance.now() - startedAt > maxRefusedMs) {
        throw new PtcError(
          'TEMPORAL_UNREACHABLE',
          `run ${workflowId} has refused every query for ${maxRefusedMs / 1_000} s`,
          {
            hint: 'The run is in constant progress. Try again later.',
            cause: thrown,
          },
        )
      }
      await delay(retryIntervalMs)
    }
  }
}

function isWorkerGone(thrown: unknown): boolean {
  return (
    thrown instanceof ServiceError && isGrpcServiceError(thrown.cause) && thrown.cause.details === workerGoneMessage
  )
}
