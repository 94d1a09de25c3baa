import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import type { WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { waitsQuery } from '../../common/names.js'
import { checkLimit, listBusyRuns } from '../run/list-runs.js'
import type { RunInfo } from '../run/run-info.js'
import { readTree } from '../run/watch-run.js'
import type { CallWait, RunWait } from '../run-tree/index.js'
import { checkKeys } from '../start/check-input.js'
import { queryRun } from '../temporal/query-run.js'
import { toRunWaits } from './waits-of-run.js'

export interface WaitsOfRunsOptions {
  /**
   * Workflow id of the only run that is looked at, with the calls that sub-agents and sessions make for it. Its worker
   * answers. Default: all runs.
   */
  readonly run?: string
  /**
   * Of the runs that have not ended, so many are looked at: first those whose `PtcStatus` says that they wait, then the
   * newest others. Default 100.
   */
  readonly limit?: number
}

/** A wait of a run. */
export interface WaitOfRun {
  readonly run: RunInfo
  readonly wait: RunWait
}

/** What the runs wait for that were looked at. */
export interface FoundWaits {
  /** The oldest first. */
  readonly waits: readonly WaitOfRun[]
  /** How many runs were looked at, when others were not. Undefined: all were. */
  readonly limit: number | undefined
}

/** Runs that are read at once. */
const concurrency = 5

/** Maximum milliseconds in which workers answer for all runs. After them, and without a worker, histories are read. */
const maxAskMs = 3_000

/** Returns what open runs wait for. A sub-agent is a run of its own here. */
export async function waitsOfRuns(client: Client, taskQueue: string, options: WaitsOfRunsOptions): Promise<FoundWaits> {
  checkKeys('the options', options, ['run', 'limit'])
  const { limit = 100 } = options
  checkLimit(limit)
  const listed = await listBusyRuns(client, taskQueue, limit + 1)
  const runs = listed.slice(0, limit)
  const askUntil = Date.now() + maxAskMs
  const found: WaitOfRun[] = []
  for (let from = 0; from < runs.length; from += concurrency) {
    const waits = runs.slice(from, from + concurrency).map(async (run) => {
      const { workflowId } = run
      const waitsFor = await ask(client, workflowId, askUntil).catch(() => readWaits(client, workflowId))
      return waitsFor.map((wait) => ({ run, wait }))
    })
    found.push(...(await Promise.all(waits)).flat())
  }
  const waits = found.toSorted((one, other) => one.wait.since - other.wait.since)
  return { waits, limit: listed.length > limit ? limit : undefined }
}

/** Asks the workflow of a run. Its answer does not cost more when its history is long. */
async function ask(client: Client, workflowId: string, deadline: number): Promise<readonly RunWait[]> {
  const waits = await client.connection.withDeadline(deadline, () =>
    queryRun<WorkflowWaits>(client, { workflowId }, waitsQuery),
  )
  return waits ? toRunWaits(client, workflowId, waits) : []
}

/** Reads the history of a run, which may have been removed since it was listed. */
async function readWaits(client: Client, workflowId: string): Promise<readonly RunWait[]> {
  try {
    return (await readTree(client, { workflowId })).waitsFor
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') return []
    throw thrown
  }
}

/** A call that waits for its result, or for its approval. Times are ISO 8601. */
interface ListedCall extends Omit<CallWait, 'type' | 'since' | 'expiresAt'> {
  readonly waitsFor: 'result' | 'approval'
  readonly since: string
  readonly expiresAt: string
}

/** Returns the waits of calls as lists of calls show them. */
export function waitingCalls(waits: readonly WaitOfRun[]): readonly ListedCall[] {
  return waits.flatMap(({ wait }) => {
    if (wait.type === 'budget') return []
    const { type, since, expiresAt, ...call } = wait
    const times = { since: new Date(since).toISOString(), expiresAt: new Date(expiresAt).toISOString() }
    return [{ waitsFor: type === 'approval' ? ('approval' as const) : ('result' as const), ...call, ...times }]
  })
}
