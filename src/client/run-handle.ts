import type { Client, WorkflowHandle } from '@temporalio/client'
import type { HistoryEvent, RunTree } from './history/index.js'
import { type EventsOptions, runEvents } from './run-events.js'
import { runError } from './run-error.js'
import { type RunInfo, runInfo } from './run-info.js'
import { readTree, watchRun, type WatchOptions } from './watch-run.js'
import { temporalError } from './temporal-error.js'

/** One run: a running one or one that has ended. */
export interface RunHandle<Result> {
  readonly workflowId: string
  /** Undefined: the latest run of this id. */
  readonly runId: string | undefined
  /**
   * Waits for the run's end.
   *
   * @throws PtcError with the code of what failed; RUN_CANCELLED, RUN_TERMINATED, RUN_TIMED_OUT; TEMPORAL_NOT_FOUND,
   * TEMPORAL_UNREACHABLE
   */
  result(): Promise<Result>
  /** @throws PtcError TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE */
  describe(): Promise<RunInfo>
  /** The run's history from its beginning, as it happens; ends with the run. See {@link runEvents}. */
  events(options?: EventsOptions): AsyncGenerator<HistoryEvent, void, undefined>
  /** The run as far as it has come: turns, cells, calls, tokens. */
  tree(): Promise<RunTree>
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
): RunHandle<Result> {
  const { workflowId } = handle
  const execution = { workflowId, ...(runId === undefined ? {} : { runId }) }
  return {
    workflowId,
    runId,
    async result() {
      try {
        // Both ends are ours: the workflow of this type returns this type.
        return (await handle.result()) as Result
      } catch (thrown) {
        throw runError(thrown, workflowId)
      }
    },
    async describe() {
      try {
        return runInfo(await handle.describe())
      } catch (thrown) {
        throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
      }
    },
    events: (options) => runEvents(client, execution, options),
    tree: () => readTree(client, execution),
    watch: (options = {}) => watchRun(client, execution, options),
    async cancel() {
      try {
        await handle.cancel()
      } catch (thrown) {
        throw temporalError(thrown, `cancel run ${workflowId}`, workflowId)
      }
    },
  }
}
