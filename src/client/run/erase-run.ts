import type { Client } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { findExclusiveValues } from '../../values/garbage/collect-garbage.js'
import { type StreamSink, streamName } from '../../stream/index.js'
import type { ValueStore } from '../../values/store.js'
import { listRunIds } from '../temporal/executions.js'
import { gcRoots, historyBytes } from '../temporal/gc-roots.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'
import { temporalError } from '../temporal/temporal-error.js'

interface EraseOptions {
  readonly store: ValueStore
  /** The store of the live streams. Default: there is none. */
  readonly stream?: StreamSink | undefined
  readonly workflowId: string
  /** Id of the execution. Default: the latest run with this workflow id. */
  readonly runId?: string | undefined
  /** When true, the function only reports, and erases nothing. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
}

interface ErasedRun {
  /** Ids of the executions of the run. Their histories are deleted. */
  readonly runIds: readonly string[]
  /** The removed values. */
  readonly values: { readonly count: number; readonly bytes: number }
}

/**
 * The server's list of runs lags behind by a second, and clocks differ. A value that was put later than this time after
 * the end of the run may belong to a run that is not listed yet.
 */
const settleMs = 60_000

/**
 * Deletes the live stream of a closed run, its histories from the server, and from the store the values to which no
 * other history refers. After a failure, `ptc values gc` removes the remaining values. Runs with the same workflow id
 * share a stream: a reader of another one gets a `gap`.
 *
 * @throws PtcError RUN_INPUT_INVALID for an open run; TEMPORAL_NOT_FOUND, TEMPORAL_UNREACHABLE; of the store
 */
export async function eraseRun(client: Client, options: EraseOptions): Promise<ErasedRun> {
  const { store, stream, workflowId, dryRun, signal } = options
  const runIds = await listRunIds(client, options, signal)
  const executions = runIds.map((runId) => ({ workflowId, runId }))
  const closedAt = await closeTime(client, { workflowId, runId: runIds.at(-1) ?? '' })
  const isOwn = (other: WorkflowExecution): boolean => other.workflowId === workflowId && runIds.includes(other.runId)
  const exclusive = await findExclusiveValues(
    {
      store,
      of: () => historiesOf(client, executions, signal),
      others: () => gcRoots(client, signal, isOwn),
    },
    signal,
  )
  const unusedSince = closedAt + settleMs
  const candidates = exclusive.filter(({ usedAt }) => usedAt < unusedSince)
  const removed: { readonly bytes: number }[] = dryRun ? [...candidates] : []
  if (!dryRun) {
    // The stream is removed first, because `ptc values gc` removes only the rest of the other data.
    await stream?.remove(streamName(client.options.namespace, workflowId))
    for (const execution of executions) await deleteExecution(client, execution)
    for (const value of candidates) if (await store.remove(value.sha256, signal, unusedSince)) removed.push(value)
  }
  const bytes = removed.reduce((sum, value) => sum + value.bytes, 0)
  return { runIds, values: { count: removed.length, bytes } }
}

/** @throws PtcError RUN_INPUT_INVALID when the run is open, has continued as new, or ended a moment ago */
async function closeTime(client: Client, { workflowId, runId }: WorkflowExecution): Promise<number> {
  const handle = client.workflow.getHandle(workflowId, runId)
  const described = await handle.describe().catch((thrown: unknown) => {
    throw temporalError(thrown, `read run ${workflowId}`, workflowId)
  })
  const { closeTime, status } = described
  if (closeTime === undefined || status.name === 'CONTINUED_AS_NEW') {
    throw new PtcError('RUN_INPUT_INVALID', `run ${workflowId} has not ended`, {
      hint: `Erase it when it has ended. \`ptc cancel ${workflowId}\` ends it.`,
    })
  }
  if (Date.now() < closeTime.getTime() + settleMs) {
    throw new PtcError('RUN_INPUT_INVALID', `run ${workflowId} ended less than a minute ago`, {
      hint: 'Erase it in a minute: a run that shares its values may not be listed yet.',
    })
  }
  return closeTime.getTime()
}

async function* historiesOf(
  client: Client,
  executions: readonly WorkflowExecution[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const execution of executions) yield* historyBytes(client, execution, signal)
}

async function deleteExecution(client: Client, workflowExecution: WorkflowExecution): Promise<void> {
  const { namespace } = client.options
  try {
    await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution })
  } catch (thrown) {
    const error = temporalError(
      thrown,
      `delete the history of ${workflowExecution.workflowId}`,
      workflowExecution.workflowId,
    )
    // The retention period of the run ended meanwhile.
    if (error.code !== 'TEMPORAL_NOT_FOUND') throw error
  }
}
