import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { workflowNames } from '../../common/names.js'
import { checkKeys } from '../start/check-input.js'
import type { RunStatus } from '../run-tree/index.js'
import { type RunInfo, runInfo, runStatuses } from './run-info.js'
import { quoteLiteral } from '../../common/runs/list-filter.js'
import { describingClient } from '../temporal/encrypted-payloads.js'
import { temporalError } from '../temporal/temporal-error.js'

export interface ListOptions {
  /** Default 20. */
  readonly limit?: number
  readonly status?: RunStatus
  /** Default: all. */
  readonly type?: keyof typeof workflowNames
}

const optionNames = ['limit', 'status', 'type'] as const satisfies readonly (keyof ListOptions)[]

/** Temporal's execution statuses for each status. A run that completed without success counts as failed. */
const temporalStatusNames: Readonly<Record<RunStatus, readonly string[]>> = {
  running: ['Running'],
  completed: ['Completed'],
  failed: ['Failed', 'Completed'],
  cancelled: ['Canceled'],
  terminated: ['Terminated'],
  timed_out: ['TimedOut'],
}

/** The server's maximum. */
const maxPageSize = 1_000

/**
 * The newest runs of a task queue. A continue-as-new chain is one run, described by its latest execution. Visibility
 * lags: a run that has just started may be missing for a second.
 */
export async function listRuns(client: Client, taskQueue: string, options: ListOptions): Promise<readonly RunInfo[]> {
  checkKeys('the options', options, optionNames)
  const { limit = 20, status, type } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new PtcError('RUN_INPUT_INVALID', `limit must be a whole number from 1, not ${limit}`)
  }
  const conditions = [
    `WorkflowType IN (${(type === undefined ? Object.values(workflowNames) : [workflowNames[type]]).map(quoteLiteral).join(', ')})`,
    `TaskQueue = ${quoteLiteral(taskQueue)}`,
    status === undefined
      ? "ExecutionStatus != 'ContinuedAsNew'"
      : `ExecutionStatus IN (${temporalStatusNamesOf(status).map(quoteLiteral).join(', ')})`,
  ]
  const runs: RunInfo[] = []
  try {
    // Among the completed runs few are failed ones: these are filtered here, so the pages are large.
    const pageSize = status === 'failed' ? maxPageSize : Math.min(limit, maxPageSize)
    const executions = describingClient(client).list({ query: conditions.join(' AND '), pageSize })
    for await (const execution of executions) {
      const run = runInfo(execution)
      if (status === undefined || run.status === status) runs.push(run)
      if (runs.length === limit) break
    }
  } catch (thrown) {
    throw temporalError(thrown, 'list the runs')
  }
  return runs
}

function temporalStatusNamesOf(status: RunStatus): readonly string[] {
  if (Object.hasOwn(temporalStatusNames, status)) return temporalStatusNames[status]
  throw new PtcError('RUN_INPUT_INVALID', `${status} is not a status of runs`, {
    hint: `One of ${runStatuses.join(', ')}.`,
  })
}
