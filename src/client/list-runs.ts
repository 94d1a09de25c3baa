import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { workflowNames } from '../common/names.js'
import { checkKeys } from './check-input.js'
import type { RunStatus } from './history/index.js'
import { type RunInfo, runInfo, runStatuses } from './run-info.js'
import { temporalError } from './temporal-error.js'

export interface ListOptions {
  /** Default 20. */
  readonly limit?: number
  readonly status?: RunStatus
  /** Default: all. */
  readonly type?: keyof typeof workflowNames
}

const optionNames = ['limit', 'status', 'type'] as const satisfies readonly (keyof ListOptions)[]

/** Temporal's own names for what can be asked for. A run that completed without success is a failed one here. */
const statusNames: Readonly<Record<RunStatus, readonly string[]>> = {
  running: ['Running'],
  completed: ['Completed'],
  failed: ['Failed', 'Completed'],
  cancelled: ['Canceled'],
  terminated: ['Terminated'],
  timed_out: ['TimedOut'],
}

/** The most that a server gives at once. */
const largestPage = 1_000

/** The newest runs of a task queue; one that went on in fresh histories is one run, its latest. Visibility lags: a run that has just begun may be missing for a second. */
export async function listRuns(
  { workflow }: Client,
  taskQueue: string,
  options: ListOptions,
): Promise<readonly RunInfo[]> {
  checkKeys('the options', options, optionNames)
  const { limit = 20, status, type } = options
  if (!Number.isInteger(limit) || limit < 1) {
    throw new PtcError('RUN_INPUT_INVALID', `limit must be a whole number from 1, not ${limit}`)
  }
  const conditions = [
    `WorkflowType IN (${(type === undefined ? Object.values(workflowNames) : [workflowNames[type]]).map(literal).join(', ')})`,
    `TaskQueue = ${literal(taskQueue)}`,
    status === undefined
      ? "ExecutionStatus != 'ContinuedAsNew'"
      : `ExecutionStatus IN (${namesOf(status).map(literal).join(', ')})`,
  ]
  const runs: RunInfo[] = []
  try {
    // Most runs that completed are passed over when those without success are looked for: then in large pages.
    const pageSize = status === 'failed' ? largestPage : Math.min(limit, largestPage)
    const found = workflow.list({ query: conditions.join(' AND '), pageSize })
    for await (const execution of found) {
      const run = runInfo(execution)
      if (status === undefined || run.status === status) runs.push(run)
      if (runs.length === limit) break
    }
  } catch (thrown) {
    throw temporalError(thrown, 'list the runs')
  }
  return runs
}

function namesOf(status: RunStatus): readonly string[] {
  if (Object.hasOwn(statusNames, status)) return statusNames[status]
  throw new PtcError('RUN_INPUT_INVALID', `there is no status ${status} to ask for`, {
    hint: `One of ${runStatuses.join(', ')}.`,
  })
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
