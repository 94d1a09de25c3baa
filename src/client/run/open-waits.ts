import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { checkKeys } from '../start/check-input.js'
import type { RunTree, RunWait } from '../run-tree/index.js'
import { listBusyRuns } from './list-runs.js'
import type { RunInfo } from './run-info.js'

export interface WaitsOfRunsOptions {
  /** Maximum number of runs that are read: the newest of those that have not ended. Default 100. */
  readonly limit?: number
}

/** A wait of a run. */
export interface WaitOfRun {
  readonly run: RunInfo
  readonly wait: RunWait
}

/** Number of histories that are read concurrently. */
const concurrency = 5

/**
 * Returns the waits of open runs, the oldest wait first.
 *
 * @param treeOf reads the tree of a run
 */
export async function waitsOfRuns(
  client: Client,
  taskQueue: string,
  treeOf: (workflowId: string) => Promise<RunTree>,
  options: WaitsOfRunsOptions,
): Promise<readonly WaitOfRun[]> {
  checkKeys('the options', options, ['limit'])
  const runs = await listBusyRuns(client, taskQueue, options.limit ?? 100)
  const found: WaitOfRun[] = []
  for (let from = 0; from < runs.length; from += concurrency) {
    const waits = runs.slice(from, from + concurrency).map(async (run) => {
      const tree = await treeIfPresent(treeOf, run.workflowId)
      return (tree?.waitsFor ?? []).map((wait) => ({ run, wait }))
    })
    found.push(...(await Promise.all(waits)).flat())
  }
  return found.toSorted((one, other) => one.wait.since - other.wait.since)
}

/** Reads the tree of a run. A run from a list may have been removed since. */
async function treeIfPresent(
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
