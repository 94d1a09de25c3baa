import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client'
import { memoNames } from '../common/names.js'
import type { RunStatus } from './history/index.js'

type AnyStatus = RunStatus | 'paused' | 'continued' | 'unknown'

export const runStatuses: readonly RunStatus[] = [
  'running',
  'completed',
  'failed',
  'cancelled',
  'terminated',
  'timed_out',
]

/** What Temporal knows of a run without its history. */
export interface RunInfo {
  readonly workflowId: string
  /** The current one of a long run, which goes on in fresh histories. */
  readonly runId: string
  /** Workflow type: `agent`, `program` or `session`, unless somebody asked for another workflow by its id. */
  readonly type: string
  /** `failed` also for a run whose workflow completed without success; then `outcome` says why. */
  readonly status: AnyStatus
  /** How a run ended that completed without success: `code_error`, `turn_limit` and so on. */
  readonly outcome: string | undefined
  readonly taskQueue: string
  /** First 200 characters of the question or program. */
  readonly summary: string
  /** When it began, not when its latest history did. */
  readonly startedAt: Date
  readonly endedAt: Date | undefined
}

const statuses: Readonly<Record<WorkflowExecutionStatusName, AnyStatus>> = {
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  PAUSED: 'paused',
  CONTINUED_AS_NEW: 'continued',
  UNSPECIFIED: 'unknown',
  UNKNOWN: 'unknown',
}

export function runInfo(info: Omit<WorkflowExecutionInfo, 'raw'>): RunInfo {
  const { workflowId, runId, type, status, taskQueue, memo, startTime, closeTime } = info
  const summary = memo?.[memoNames.summary]
  const outcome = memo?.[memoNames.outcome]
  const isFailure = status.name === 'COMPLETED' && typeof outcome === 'string'
  return {
    workflowId,
    runId,
    type,
    status: isFailure ? 'failed' : statuses[status.name],
    outcome: isFailure ? outcome : undefined,
    taskQueue,
    summary: typeof summary === 'string' ? summary : '',
    startedAt: beganAt(memo?.[memoNames.startedAt]) ?? startTime,
    endedAt: closeTime,
  }
}

/** Only a run that went on in a fresh history has it. */
function beganAt(startedAt: unknown): Date | undefined {
  const date = typeof startedAt === 'string' ? new Date(startedAt) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
