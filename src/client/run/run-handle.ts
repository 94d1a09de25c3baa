import type { Client, WorkflowHandle } from '@temporalio/client'
import type { BudgetChange, BudgetStatus } from '../../common/budget/budget.js'
import type { HistoryEvent, RunTree, ValueReader } from '../run-tree/index.js'
import type { StreamEvent, StreamSink } from '../../stream/index.js'
import type { EventsOptions, ExecutionRef } from '../temporal/history-pages.js'
import { type RunFiles, runFiles } from '../files/run-files.js'
import { runEvents } from './run-events.js'
import { retryLongPoll } from '../temporal/retry.js'
import { runError } from './run-error.js'
import { useBudget } from './use-budget.js'
import { describeLatestExecution } from '../temporal/describe-execution.js'
import { fetchRunInfo, type RunInfo } from './run-info.js'
import { streamRun, type StreamOptions } from './stream-run.js'
import { runWaits, type WaitsOptions } from './run-waits.js'
import { readTree, type TreeOptions, watchRun, type WatchOptions } from './watch-run.js'
import { temporalError } from '../temporal/temporal-error.js'

/**
 * One run, running or ended. A long run continues as new. The handle covers the whole continue-as-new chain; any run id
 * in it identifies the run. Each method throws a PtcError with a code of `docs/reference/errors.md`.
 */
export interface RunHandle<Result> {
  readonly workflowId: string
  /** Run id of the first execution if this client started the run. Undefined: the latest run of this workflow id. */
  readonly runId: string | undefined
  /** Waits for the run's end; keeps waiting while the server is unavailable for up to a minute. */
  result(): Promise<Result>
  describe(): Promise<RunInfo>
  /**
   * Yields the run's events from its start, as they happen; ends with the run. Event ids start at 1 in each execution
   * of the continue-as-new chain.
   */
  events(options?: EventsOptions): AsyncGenerator<HistoryEvent, void, undefined>
  /**
   * Yields the live stream: text of the model, cells and calls, as they happen. The last event is `end`, also when the
   * store of the stream fails. docs/guides/streaming.md describes the events.
   */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>
  /** Returns the current state of the run: turns, cells, calls, tokens. */
  tree(options?: TreeOptions): Promise<RunTree>
  /** Follows the run until it ends; calls `onChange`; returns the final tree. */
  watch(options?: WatchOptions): Promise<RunTree>
  /**
   * Yields the tree of the run each time when it waits only for something from outside, from its start, as that
   * happens. Ends with the run.
   */
  waits(options?: WaitsOptions): AsyncGenerator<RunTree, void, undefined>
  /**
   * Returns the usage of an agent or a conversation, and its budget. With an argument, replaces these amounts of the
   * budget first (null removes a bound): a paused run continues when it has budget left.
   */
  budget(change?: BudgetChange): Promise<BudgetStatus>
  /** The files of the run: uploads, and artifacts of its code. docs/guides/files.md */
  readonly files: RunFiles
  /**
   * Requests cancellation: running tools receive it, the sandbox is removed. The run has ended when {@link result}
   * settles.
   */
  cancel(): Promise<void>
}

/** Readers of data that is not in a history. */
export interface RunReaders {
  readonly values?: ValueReader | undefined
  readonly stream?: StreamSink | undefined
}

/** Creates a handle for a run of a workflow that returns `Result`. */
export function runHandle<Result>(
  client: Client,
  handle: WorkflowHandle,
  runId: string | undefined,
  { values, stream }: RunReaders,
): RunHandle<Result> {
  const { workflowId } = handle
  const execution = { workflowId, runId }
  return {
    workflowId,
    runId,
    async result() {
      try {
        // The workflow type guarantees this result type.
        return (await retryLongPoll(() => handle.result())) as Result
      } catch (thrown) {
        throw runError(thrown, workflowId)
      }
    },
    describe: () => fetchRunInfo(client, execution),
    events: (options) => runEvents(client, execution, options),
    stream: (options = {}) => streamRun(client, execution, stream, options),
    tree: (options = {}) => readTree(client, execution, { values, ...options }),
    watch: (options = {}) => watchRun(client, execution, { values, ...options }),
    waits: (options = {}) => runWaits(client, execution, { values, ...options }),
    budget: (change) => useBudget(client, workflowId, change),
    files: runFiles(client, workflowId),
    cancel: () => cancelRun(client, execution),
  }
}

/** Cancels a run. If the run continues as new meanwhile, its new execution is cancelled. */
async function cancelRun(client: Client, execution: ExecutionRef): Promise<void> {
  const { workflowId } = execution
  for (let { runId } = await describeLatestExecution(client, execution); ;) {
    try {
      await client.workflow.getHandle(workflowId, runId).cancel()
      return
    } catch (thrown) {
      const current = await describeLatestExecution(client, { workflowId, runId })
      if (current.runId === runId) throw temporalError(thrown, `cancel run ${workflowId}`, workflowId)
      ;({ runId } = current)
    }
  }
}
