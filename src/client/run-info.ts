import type { WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client'

export type RunState =
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'terminated'
  | 'timed_out'
  | 'paused'
  | 'continued'
  | 'unknown'

export const runStates: readonly RunState[] = ['running', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out']

/** What Temporal knows of a run without its history. */
export interface RunInfo {
  readonly workflowId: string
  /** The current one of a long run, which goes on in fresh histories. */
  readonly runId: string
  /** Workflow type: `agent`, `program` or `session`, unless somebody asked for another workflow by its id. */
  readonly type: string
  readonly state: RunState
  readonly taskQueue: string
  /** First 200 characters of the question or program. */
  readonly summary: string
  /** When it began, not when its latest history did. */
  readonly startTime: Date
  readonly closeTime: Date | undefined
}

const states: Readonly<Record<WorkflowExecutionStatusName, RunState>> = {
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
  const summary = memo?.['summary']
  return {
    workflowId,
    runId,
    type,
    state: states[status.name],
    taskQueue,
    summary: typeof summary === 'string' ? summary : '',
    startTime: beganAt(memo?.['startedAt']) ?? startTime,
    closeTime,
  }
}

/** Only a run that went on in a fresh history has it. */
function beganAt(startedAt: unknown): Date | undefined {
  const date = typeof startedAt === 'string' ? new Date(startedAt) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
