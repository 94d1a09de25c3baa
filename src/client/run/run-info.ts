import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client'
import { memoKeys } from '../../common/names.js'
import type { RunStatus } from '../run-tree/index.js'

type RunInfoStatus = RunStatus | 'paused' | 'continued' | 'unknown'

export const runStatuses: readonly RunStatus[] = [
  'running',
  'completed',
  'failed',
  'cancelled',
  'terminated',
  'timed_out',
]

/** A run as the server describes it, without its history. */
export interface RunInfo {
  readonly workflowId: string
  /** The latest execution of the continue-as-new chain. */
  readonly runId: string
  /** Workflow type: `agent`, `program`, `session`, or that of a workflow which is not of this library. */
  readonly type: string
  /**
   * `failed` also for a run whose workflow completed without success; then `outcome` says why. `continued` only when
   * the server no longer has the next execution of the chain.
   */
  readonly status: RunInfoStatus
  /** Outcome of a run that completed without success: `code_error`, `turn_limit` and so on. */
  readonly outcome: string | undefined
  /** Calls whose compensation failed, such as `1 call: book_hotel (turn-1.cell-1.call-2)`. Absent: none. */
  readonly notCompensated?: string
  readonly taskQueue: string
  /** First 200 characters of the question or program. */
  readonly summary: string
  /** Start of the run, not of its latest execution. */
  readonly startedAt: Date
  readonly endedAt: Date | undefined
}

const statusByTemporalName: Readonly<Record<WorkflowExecutionStatusName, RunInfoStatus>> = {
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
  const summary = memo?.[memoKeys.summary]
  const outcome = memo?.[memoKeys.outcome]
  const notCompensated = memo?.[memoKeys.notCompensated]
  const isFailure = status.name === 'COMPLETED' && typeof outcome === 'string'
  return {
    workflowId,
    runId,
    type,
    status: isFailure ? 'failed' : statusByTemporalName[status.name],
    outcome: isFailure ? outcome : undefined,
    ...(typeof notCompensated === 'string' && { notCompensated }),
    taskQueue,
    summary: typeof summary === 'string' ? summary : '',
    startedAt: parseStartedAt(memo?.[memoKeys.startedAt]) ?? startTime,
    endedAt: closeTime,
  }
}

/** Only an execution that continues another one has it in its memo. */
function parseStartedAt(startedAt: unknown): Date | undefined {
  const date = typeof startedAt === 'string' ? new Date(startedAt) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
