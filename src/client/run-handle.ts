import type { Client, WorkflowHandle } from '@temporalio/client'
import type { HistoryEvent, RunTree, ValueReader } from './history/index.js'
import type { EventsOptions, Execution } from './history-pages.js'
import { runEvents } from './run-events.js'
import { waitPatiently } from './patience.js'
import { runError } from './run-error.js'
import { describeCurrent, describeRun } from './describe-run.js'
import type { RunInfo } from './run-info.js'
import { readTree, type TreeOptions, watchRun, type WatchOptions } from './watch-run.js'
import { temporalError } from './temporal-error.js'

/**
 * One run: a running one or one that has ended. A long run goes on in a fresh history, which is a run of its own to Temporal; it is
 * one run here, and any of its run ids stands for all of it.
 */
export interface RunHandle<Result> {
  readonly workflowId: string
  /** The one it began as, if it was started here. Undefined: the latest run of this id. */
  readonly runId: string | undefined
  /**
   * Waits for the run's end; on, when the server is away for a while.
   *
   * @throws PtcError with the code of what failed; RUN_CANCELLED, RUN_TERMINATED, RUN_TIMED_OUT; TEMPORAL_NOT_FOUND;
   * TEMPORAL_UNREACHABLE after a minute without a server
   */
  result(): Promise<Result>
  /** @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE */
  describe(): Promise<RunInfo>
  /**
   * The run's events from its beginning, as they happen; ends with the run. Event ids begin anew where it goes on in a fresh
   * history.
   */
  events(options?: EventsOptions): AsyncGenerator<HistoryEvent, void, undefined>
  /** The run as far as it has come: turns, cells, calls, tokens. */
  tree(options?: TreeOptions): Promise<RunTree>
  /** Follows the run to its end, telling of each change; gives the whole of it. */
  watch(options?: WatchOptions): Promise<RunTree>
  /**
   * Asks the run to stop: tools under way are told, the sandbox is removed. It has ended when {@link result} says so.
   *
   * @throws PtcError TEMPORAL_NOT_FOUND when there is no such run, or it has ended
   */
  cancel(): Promise<void>
}

/** A handle that has the type of result which its workflow type promises. */
export function runHandle<Result>(
  client: Client,
  handle: WorkflowHandle,
  runId: string | undefined,
  values: ValueReader | undefined,
): RunHandle<Result> {
  const { workflowId } = handle
  const execution = { workflowId, runId }
  return {
    workflowId,
    runId,
    async result() {
      try {
        // Both ends are ours: the workflow of this type returns this type.
        return (await waitPatiently(() => handle.result())) as Result
      } catch (thrown) {
        throw runError(thrown, workflowId)
      }
    },
    describe: () => describeRun(client, execution),
    events: (options) => runEvents(client, execution, options),
    tree: (options = {}) => readTree(client, execution, { values, ...options }),
    watch: (options = {}) => watchRun(client, execution, { values, ...options }),
    cancel: () => cancelRun(client, execution),
  }
}

/** It may go on in a fresh history at this very moment: then that one is cancelled. */
async function cancelRun(client: Client, execution: Execution): Promise<void> {
  const { workflowId } = execution
  for (let { runId } = await describeCurrent(client, execution); ;) {
    try {
      await client.workflow.getHandle(workflowId, runId).cancel()
      return
    } catch (thrown) {
      const current = await describeCurrent(client, { workflowId, runId })
      if (current.runId === runId) throw temporalError(thrown, `cancel run ${workflowId}`, workflowId)
      ;({ runId } = current)
    }
  }
}
