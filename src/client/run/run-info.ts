import type { Client, WorkflowExecutionInfo, WorkflowExecutionStatusName } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { type Requester, requesterOf } from '../../common/run/requester.js'
import { type ActiveStatus, activeStatuses, type SearchAttributeName } from '../../common/run/search-attributes.js'
import { memoKeys } from '../../common/names.js'
import type { RunStatus } from '../run-tree/index.js'
import { describeLatestExecution } from '../temporal/describe-execution.js'
import type { ExecutionRef } from '../temporal/history-pages.js'

/** The state of a run: its end, or the reason why it waits. */
export type RunState = RunInfoStatus | ActiveStatus

type RunInfoStatus = RunStatus | 'paused' | 'continued' | 'unknown'

export const runStatuses: readonly RunStatus[] = [
  'running',
  'completed',
  'failed',
  'cancelled',
  'terminated',
  'timed_out',
]

/** The server's description of a run, without its history. */
export interface RunInfo {
  readonly workflowId: string
  /** The latest execution of the continue-as-new chain. */
  readonly runId: string
  /** Workflow type: `agent`, `program`, `session`, or the type of a workflow that does not belong to this library. */
  readonly type: string
  /**
   * `failed` also for a run that completed without success; then `outcome` has the reason. `continued` only when the
   * server no longer has the next execution of the chain.
   */
  readonly status: RunInfoStatus
  /**
   * Like `status`. For a run that has not ended and waits, the reason of the wait. Without the search attribute
   * `PtcStatus`, only `paused` is known.
   */
  readonly state: RunState
  /** Outcome of a run that completed without success: `code_error`, `turn_limit` and so on. */
  readonly outcome: string | undefined
  /** Calls with a failed compensation, such as `1 call: book_hotel (turn-1.cell-1.call-2)`. Absent: none. */
  readonly notCompensated?: string
  readonly taskQueue: string
  /** Name of the agent. Absent: none, or the server has no search attribute `PtcAgent`. */
  readonly agent?: string
  /** The requester in the context of the run. Absent: the context has none. */
  readonly requester?: Requester
  /** US dollars so far, as of the last change of the state. Absent: unknown, or no `PtcCostUsd` on the server. */
  readonly costUsd?: number
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

/**
 * Describes a run by the latest execution of its continue-as-new chain.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE
 */
export async function fetchRunInfo(client: Client, execution: ExecutionRef): Promise<RunInfo> {
  return runInfo(await describeLatestExecution(client, execution))
}

export function runInfo(info: Omit<WorkflowExecutionInfo, 'raw'>): RunInfo {
  const { workflowId, runId, type, status: temporalStatus, taskQueue, memo, startTime, closeTime } = info
  const attributes = ownAttributes(info)
  const summary = memo?.[memoKeys.summary]
  const outcome = memo?.[memoKeys.outcome]
  const notCompensated = memo?.[memoKeys.notCompensated]
  const isFailure = temporalStatus.name === 'COMPLETED' && typeof outcome === 'string'
  const status = isFailure ? 'failed' : statusByTemporalName[temporalStatus.name]
  const { PtcAgent: agent, PtcCostUsd: costUsd, PtcTenant: tenant } = attributes
  const requester = requesterOf({ tenant, ...objectOf(memo?.[memoKeys.requester]) } as JsonObject)
  return {
    workflowId,
    runId,
    type,
    status,
    state: status === 'running' ? stateOf(attributes.PtcStatus, memo?.[memoKeys.paused]) : status,
    outcome: isFailure ? outcome : undefined,
    ...(typeof notCompensated === 'string' && { notCompensated }),
    taskQueue,
    ...(typeof agent === 'string' && { agent }),
    ...defined({ requester }),
    ...(typeof costUsd === 'number' && { costUsd }),
    summary: typeof summary === 'string' ? summary : '',
    startedAt: parseStartedAt(memo?.[memoKeys.startedAt]) ?? startTime,
    endedAt: closeTime,
  }
}

function ownAttributes(info: Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>) {
  const pairs = info.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const)
  return Object.fromEntries(pairs) as { readonly [Name in SearchAttributeName]?: unknown }
}

function stateOf(status: unknown, paused: unknown): RunState {
  if (paused !== undefined && paused !== null) return 'paused'
  return activeStatuses.find((each) => each === status) ?? 'running'
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

/** Reads the start of the run. Only an execution that continues another one has it in its memo. */
function parseStartedAt(startedAt: unknown): Date | undefined {
  const date = typeof startedAt === 'string' ? new Date(startedAt) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
