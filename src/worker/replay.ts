import type { DataConverter } from '@temporalio/common'
import { type ReplayHistoriesIterable, Worker } from '@temporalio/worker'
import { isolateTimeout, workflowBundle } from './plugin/workflow-bundle.js'

/** The result of replaying one history. */
interface ReplayOutcome {
  readonly workflowId: string
  readonly runId: string
  /** Undefined when the history replays. */
  readonly error: Error | undefined
}

/**
 * Replays histories on the installed workflow code, one after the other. Needs no server.
 *
 * @param dataConverter reads the payloads, including those in a value store
 */
export async function* replayHistories(
  histories: ReplayHistoriesIterable,
  dataConverter: DataConverter,
): AsyncGenerator<ReplayOutcome, void, undefined> {
  const options = { workflowBundle: workflowBundle(), dataConverter, ...isolateTimeout }
  for await (const { workflowId, runId, error } of Worker.runReplayHistories(options, histories)) {
    yield { workflowId, runId, error }
  }
}
