import type { Client } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import {
  EntryCodec,
  readStream,
  type RunEnd,
  type StreamEvent,
  streamName,
  type StreamSink,
} from '../../stream/index.js'
import { firstExecutionRunId, latestRunId } from '../temporal/executions.js'
import type { ExecutionRef, WorkflowExecution } from '../temporal/history-pages.js'
import { retryLongPoll } from '../temporal/retry.js'
import { fetchRunInfo } from './run-info.js'
import { runError } from './run-error.js'
import { withRequestSignal } from '../temporal/request-signal.js'

export interface StreamOptions {
  /** The `offset` of the last event that the caller has: the stream continues after it. Default: from the start. */
  readonly from?: string
  readonly signal?: AbortSignal
}

/**
 * Yields the live stream of a run; ends with the run.
 *
 * @throws PtcError with a code of `docs/reference/errors.md`
 */
export async function* streamRun(
  client: Client,
  { workflowId, runId: requested }: ExecutionRef,
  sink: StreamSink | undefined,
  { from, signal: callerSignal }: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  if (sink === undefined) {
    throw new PtcError('RUN_INPUT_INVALID', 'this client has no stream', {
      hint: 'Give createPtcClient the `stream` of the configuration of the workers.',
    })
  }
  const finished = new AbortController()
  const signal = callerSignal ? AbortSignal.any([callerSignal, finished.signal]) : finished.signal
  try {
    const runId = requested ?? (await latestRunId(client, workflowId, signal))
    const firstRunIds = new Map<string, Promise<string | undefined>>()
    const firstRunIdOf = (each: string): Promise<string | undefined> => {
      const found = firstRunIds.get(each) ?? findFirstRunId(client, { workflowId, runId: each }, signal)
      firstRunIds.set(each, found)
      return found
    }
    const first = await firstExecutionRunId(client, { workflowId, runId }, signal)
    const ended = waitForEnd(client, { workflowId, runId }, signal)
    // The reader handles the rejection later.
    ended.catch(() => undefined)
    yield* readStream({
      sink,
      stream: streamName(client.options.namespace, workflowId),
      codec: new EntryCodec(client.options.loadedDataConverter.payloadCodecs),
      from,
      signal,
      isOfRun: async (each) => (await firstRunIdOf(each)) === first,
      ended,
    })
  } finally {
    finished.abort()
  }
}

/** Returns undefined for an execution that the server no longer has. */
async function findFirstRunId(
  client: Client,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await firstExecutionRunId(client, execution, signal)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') return undefined
    throw thrown
  }
}

/** @throws PtcError TEMPORAL_UNREACHABLE and others of the server; the signal's reason */
async function waitForEnd(client: Client, execution: WorkflowExecution, signal: AbortSignal): Promise<RunEnd> {
  const { workflowId, runId } = execution
  let failure: unknown
  try {
    const wait = () => retryLongPoll(() => client.workflow.getHandle(workflowId, runId).result())
    await withRequestSignal(client, signal, wait)
  } catch (thrown) {
    signal.throwIfAborted()
    failure = thrown
  }
  const { status, outcome } = await fetchRunInfo(client, execution)
  if (failure === undefined) return { status, ...defined({ outcome }) }
  const error = runError(failure, workflowId)
  // Only the request failed, not the run.
  if (status === 'running') throw error
  // The client can't read the result, but the run has one.
  if (status === 'completed') return { status }
  return { status, error: { code: error.code, message: error.message } }
}
