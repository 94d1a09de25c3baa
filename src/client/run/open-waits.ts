import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { checkKeys } from '../start/check-input.js'
import type { RunTree, RunWait } from '../run-tree/index.js'
import { checkLimit, listBusyRuns } from './list-runs.js'
import type { RunInfo } from './run-info.js'

export interface WaitsOfRunsOptions {
  /**
   * Workflow id of the only run that is looked at, with the calls that sub-agents and sessions make for it. Its worker
   * answers. Default: all runs, whose histories are read.
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

/** Runs whose histories are read at once. */
const concurrency = 5

/**
 * What open runs wait for.
 *
 * @param treeOf reads the tree of a run
 */
export async function waitsOfRuns(
  client: Client,
  taskQueue: string,
  treeOf: (workflowId: string) => Promise<RunTree>,
  options: WaitsOfRunsOptions,
): Promise<FoundWaits> {
  checkKeys('the options', options, ['run', 'limit'])
  const { limit = 100 } = options
  checkLimit(limit)
  const listed = await listBusyRuns(client, taskQueue, limit + 1)
  const runs = listed.slice(0, limit)
  const found: WaitOfRun[] = []
  for (let from = 0; from < runs.length; from += concurrency) {
    const waits = runs.slice(from, from + concurrency).map(async (run) => {
      const tree = await treeIfPresent(treeOf, run.workflowId)
      return (tree?.waitsFor ?? []).map((wait) => ({ run, wait }))
    })
    found.push(...(await Promise.all(waits)).flat())
  }
  const waits = found.toSorted((one, other) => one.wait.since - other.wait.since)
  return { waits, limit: listed.length > limit ? limit : undefined }
}

/** The tree of a run that may have been removed: one of a list, or a sub-agent. */
export async function treeIfPresent(
  treeOf: (workflowId: string) => Promise<RunTree>,
  workflowId: string,
): Promise<RunTree | undefined> {
  try {
    return await treeOf(workflowId)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') return undefined
    throw thrown
  }
}
