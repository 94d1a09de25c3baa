import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { workflowNames } from '../../common/names.js'
import {
  type ActiveStatus,
  activeStatuses,
  awaitingStatuses,
  type SearchAttributeName,
} from '../../common/run/search-attributes.js'
import { checkKeys } from '../start/check-input.js'
import type { RunStatus } from '../run-tree/index.js'
import { type RunInfo, runInfo, runStatuses } from './run-info.js'
import { newestRuns, type StartWindow } from './newest-runs.js'
import { quoteLiteral } from '../../common/run/list-filter.js'
import { describingClient } from '../temporal/encrypted-payloads.js'
import { isInvalidArgument, temporalError } from '../temporal/temporal-error.js'

export interface ListOptions {
  /** Maximum number of runs. Default 20. */
  readonly limit?: number
  /** `running`: every run that has not ended. `waiting…`, `paused` and `idle` need the search attribute `PtcStatus`. */
  readonly status?: RunStatus | ActiveStatus
  /** Workflow type. Default: all. */
  readonly type?: keyof typeof workflowNames
  /** Name of the agent. Needs the search attribute `PtcAgent`. */
  readonly agent?: string
  /** `tenant` of the context. Needs the search attribute `PtcTenant`. */
  readonly tenant?: string
  /** Only runs that began at or after this time. */
  readonly since?: Date
}

const optionNames = [
  'limit',
  'status',
  'type',
  'agent',
  'tenant',
  'since',
] as const satisfies readonly (keyof ListOptions)[]

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
 * Returns the newest runs of a task queue. A continue-as-new chain is one run, described by its latest execution.
 * Visibility lags: a run that has just started may be missing for a second.
 */
export async function listRuns(client: Client, taskQueue: string, options: ListOptions): Promise<readonly RunInfo[]> {
  checkKeys('the options', options, optionNames)
  const { limit = 20, status, type, agent, tenant, since } = options
  checkLimit(limit)
  if (since !== undefined && !(since instanceof Date && Number.isFinite(since.getTime()))) {
    throw new PtcError('RUN_INPUT_INVALID', 'since must be a Date')
  }
  const conditions = [
    ...runsOf(taskQueue, type),
    ...statusConditions(status),
    ...(agent === undefined ? [] : [equals('PtcAgent', agent)]),
    ...(tenant === undefined ? [] : [equals('PtcTenant', tenant)]),
  ]
  // Few of the completed runs have failed, so these are filtered here.
  const isWanted = ({ status: own, startedAt }: RunInfo): boolean =>
    (status !== 'failed' || own === 'failed') &&
    (status !== 'completed' || own === 'completed') &&
    (since === undefined || startedAt >= since)
  const from = since?.getTime()
  try {
    return await findNewest(client, conditions, { limit, isWanted, ...defined({ from }) })
  } catch (thrown) {
    throw listError(thrown)
  }
}

/**
 * Runs that may wait for something: those that have not ended, without idle conversations. First those whose status
 * says that they wait, then the newest others.
 */
export async function listBusyRuns(client: Client, taskQueue: string, limit: number): Promise<readonly RunInfo[]> {
  const conditions = [...runsOf(taskQueue), ...statusConditions('running')]
  const isWanted = ({ state }: RunInfo): boolean => state !== 'idle'
  const find = (...more: readonly string[]) => findNewest(client, [...conditions, ...more], { limit, isWanted })
  const findByStatus = async (): Promise<readonly RunInfo[]> => {
    const waiting = await find(`PtcStatus IN (${awaitingStatuses.map(quoteLiteral).join(', ')})`)
    if (waiting.length >= limit) return waiting
    // Also those of the first list: a run may begin to wait between the two requests.
    const others = await find("(PtcStatus IS NULL OR PtcStatus != 'idle')")
    return [...new Map([...waiting, ...others].map((run) => [run.workflowId, run])).values()].slice(0, limit)
  }
  try {
    return await findByStatus().catch((thrown: unknown) => {
      // The server does not have the search attribute.
      if (isInvalidArgument(thrown)) return find()
      throw thrown
    })
  } catch (thrown) {
    throw listError(thrown)
  }
}

/** @throws PtcError RUN_INPUT_INVALID */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1) return
  throw new PtcError('RUN_INPUT_INVALID', `limit must be a whole number from 1, not ${limit}`)
}

interface Found {
  readonly limit: number
  readonly isWanted: (run: RunInfo) => boolean
  /** The earliest start of a run. */
  readonly from?: number
}

function findNewest(
  client: Client,
  conditions: readonly string[],
  { limit, isWanted, from }: Found,
): Promise<readonly RunInfo[]> {
  const workflow = describingClient(client)
  const queryOf = (window: StartWindow) => [...conditions, ...windowConditions(window, from)].join(' AND ')
  const source = {
    count: async (window: StartWindow) => (await workflow.count(queryOf(window))).count,
    async *list(window: StartWindow) {
      for await (const each of workflow.list({ query: queryOf(window), pageSize: maxPageSize })) yield runInfo(each)
    },
  }
  return newestRuns(source, { limit, now: Date.now(), isWanted })
}

/**
 * Returns the conditions for a window. Executions that began before `earliest` are excluded: their runs began even
 * earlier.
 */
function windowConditions({ from, to }: StartWindow, earliest: number | undefined): readonly string[] {
  const start = earliest === undefined ? from : Math.max(from ?? earliest, earliest)
  const time = (at: number): string => quoteLiteral(new Date(at).toISOString())
  return [
    ...(start === undefined ? [] : [`StartTime >= ${time(start)}`]),
    ...(to === undefined ? [] : [`StartTime < ${time(to)}`]),
  ]
}

function runsOf(taskQueue: string, type?: keyof typeof workflowNames): readonly string[] {
  const types = type === undefined ? Object.values(workflowNames) : [workflowNames[type]]
  return [`WorkflowType IN (${types.map(quoteLiteral).join(', ')})`, `TaskQueue = ${quoteLiteral(taskQueue)}`]
}

function equals(attribute: SearchAttributeName, value: string): string {
  return `${attribute} = ${quoteLiteral(value)}`
}

function statusConditions(status: RunStatus | ActiveStatus | undefined): readonly string[] {
  if (status === undefined) return ["ExecutionStatus != 'ContinuedAsNew'"]
  if (isRunStatus(status)) {
    return [`ExecutionStatus IN (${temporalStatusNames[status].map(quoteLiteral).join(', ')})`]
  }
  if (activeStatuses.includes(status)) return ["ExecutionStatus = 'Running'", equals('PtcStatus', status)]
  throw new PtcError('RUN_INPUT_INVALID', `there is no status ${JSON.stringify(status)} of runs`, {
    hint: `One of ${[...new Set<string>([...runStatuses, ...activeStatuses])].join(', ')}.`,
  })
}

function isRunStatus(status: RunStatus | ActiveStatus): status is RunStatus {
  return Object.hasOwn(temporalStatusNames, status)
}

function listError(thrown: unknown): PtcError {
  const error = temporalError(thrown, 'list the runs')
  if (!isInvalidArgument(thrown)) return error
  return new PtcError(error.code, error.message, {
    hint: 'A filter needs its search attribute on the server: `ptc doctor` says how to add it.',
    cause: thrown,
  })
}
