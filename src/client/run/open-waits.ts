import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { checkKeys } from '../start/check-input.js'
import type { RunTree, RunWait } from '../run-tree/index.js'
import { listBusyRuns } from './list-runs.js'
import type { RunInfo } from './run-info.js'

export interface WaitsOfRunsOptions {
  /** Of the runs that have not ended, so many of the newest are looked at. Default 100. */
  readonly limit?: number
}

/** What a run waits for. */
export interface WaitOfRun {
  readonly run: RunInfo
  readonly wait: RunWait
}

/** Runs whose histories are read at once. */
const concurrency = 5

/**
 * What open runs wait for, the oldest wait first.
 *
 * @param treeOf reads a run
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

/** A run that was found in a list may have been removed since. */
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
