import type { Client } from '@temporalio/client'
import { PtcError } from '../common/errors.js'
import { workflowNames } from '../common/names.js'
import { type RunInfo, runInfo, type RunState, runStates } from './run-info.js'
import { temporalError } from './temporal-error.js'

export interface ListOptions {
  /** Default 20. */
  readonly limit?: number
  readonly status?: RunState
  /** Default: all. */
  readonly type?: keyof typeof workflowNames
}

/** Temporal's own names for what can be asked for. */
const statusNames: Partial<Readonly<Record<RunState, string>>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Canceled',
  terminated: 'Terminated',
  timed_out: 'TimedOut',
}

/** The newest runs of a task queue; one that went on in fresh histories is one run, its latest. Visibility lags: a run that has just begun may be missing for a second. */
export async function listRuns(
  { workflow }: Client,
  taskQueue: string,
  { limit = 20, status, type }: ListOptions,
): Promise<readonly RunInfo[]> {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new PtcError('RUN_INPUT_INVALID', `limit must be a whole number from 1, not ${limit}`)
  }
  const conditions = [
    `WorkflowType IN (${(type === undefined ? Object.values(workflowNames) : [workflowNames[type]]).map(literal).join(', ')})`,
    `TaskQueue = ${literal(taskQueue)}`,
    status === undefined ? "ExecutionStatus != 'ContinuedAsNew'" : `ExecutionStatus = ${literal(statusName(status))}`,
  ]
  const runs: RunInfo[] = []
  try {
    const found = workflow.list({ query: conditions.join(' AND '), pageSize: Math.min(limit, 1_000) })
    for await (const execution of found) {
      runs.push(runInfo(execution))
      if (runs.length === limit) break
    }
  } catch (thrown) {
    throw temporalError(thrown, 'list the runs')
  }
  return runs
}

function statusName(status: RunState): string {
  const name = statusNames[status]
  if (name !== undefined) return name
  throw new PtcError('RUN_INPUT_INVALID', `there is no status ${status} to ask for`, {
    hint: `One of ${runStates.join(', ')}.`,
  })
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
