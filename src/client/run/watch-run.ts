import type { Client } from '@temporalio/client'
import { ConcurrencyLimit } from '../../common/async/concurrency-limit.js'
import { PtcError } from '../../common/errors.js'
import type { ExecutionRef } from '../temporal/history-pages.js'
import { type PendingActivity, RunTreeBuilder, type RunTree, type ValueReader } from '../run-tree/index.js'
import type { Unserved } from '../workers/unserved.js'
import { ThrottledTask } from './throttled-task.js'
import { runHistoryPages } from './run-events.js'
import { isTransient, temporalError } from '../temporal/temporal-error.js'
import { findUnservedQueues } from '../workers/unserved-queues.js'
import { withRequestSignal } from '../temporal/request-signal.js'

export interface TreeOptions {
  /** Reads external values. Without it, the tree has only their previews. */
  readonly values?: ValueReader | undefined
  /** When true, also fetches arguments and result previews, not only code and output. */
  readonly full?: boolean
}

export interface WatchOptions extends TreeOptions {
  /** Called with the current tree soon after each change; once for several quick changes. */
  readonly onChange?: (tree: RunTree) => void
  readonly signal?: AbortSignal
}

/** Interval of polls for pending activities, which are not in the history. */
const pollIntervalMs = 1_000

/**
 * Follows a run until it ends, through its continue-as-new chain.
 *
 * @throws errors of {@link runHistoryPages} and of `onChange`
 */
export async function watchRun(
  client: Client,
  execution: ExecutionRef,
  { onChange = () => undefined, signal, values, full = false }: WatchOptions,
): Promise<RunTree> {
  const builder = createBuilder(client, execution)
  let { runId } = execution
  // The builder's methods must not run concurrently.
  const queue = new ConcurrencyLimit(1)
  let unserved: readonly Unserved[] = []
  // A failed notification ends the watch immediately, because the next event may arrive hours later.
  const failed = new AbortController()
  const pagesSignal = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  // A tree for each event would cost quadratic time.
  const notifier = new ThrottledTask(
    async () => {
      if (values) await queue.run(() => builder.fetchValues(values, full, signal))
      onChange(treeWithUnserved(builder, unserved))
    },
    (reason) => failed.abort(reason),
  )
  // While the server is unavailable, a request lasts a minute. So there is one request at a time, and the end does not
  // wait for it.
  const stopped = new AbortController()
  let isPolling = false
  const poll = async (): Promise<void> => {
    if (isPolling) return
    isPolling = true
    try {
      const status = await fetchLiveStatus(client, { ...execution, runId }, stopped.signal)
      const { pending } = status
      const hasChanged = pending.length + unserved.length + status.unserved.length > 0
      ;({ unserved } = status)
      if (pending.length > 0) await queue.run(() => builder.addPending(pending))
      if (hasChanged) notifier.schedule()
    } catch {
      // The history stream reports the error.
    } finally {
      isPolling = false
    }
  }
  const pollTimer = setInterval(() => void poll(), pollIntervalMs)
  try {
    for await (const page of runHistoryPages(client, execution, { signal: pagesSignal })) {
      notifier.throwIfFailed()
      if (page.events.length === 0) continue
      await queue.run(async () => {
        runId = page.runId
        await builder.add(page.events, runId)
      })
      notifier.schedule()
    }
  } finally {
    clearInterval(pollTimer)
    stopped.abort()
    await notifier.close()
    await queue.run(() => Promise.resolve())
  }
  notifier.throwIfFailed()
  if (values) await builder.fetchValues(values, full, signal)
  const tree = builder.tree()
  if (notifier.isPending) onChange(tree)
  return tree
}

/** Reads the current tree of a run. */
export async function readTree(
  client: Client,
  execution: ExecutionRef,
  { values, full = false }: TreeOptions = {},
): Promise<RunTree> {
  const builder = createBuilder(client, execution)
  let { runId } = execution
  for await (const page of runHistoryPages(client, execution, { follow: false })) {
    ;({ runId } = page)
    await builder.add(page.events, runId)
  }
  const { pending, unserved } = await fetchLiveStatus(client, { ...execution, runId })
  if (pending.length > 0) await builder.addPending(pending)
  if (values) await builder.fetchValues(values, full)
  return treeWithUnserved(builder, unserved)
}

export function createBuilder(client: Client, { workflowId }: ExecutionRef): RunTreeBuilder {
  const { namespace, loadedDataConverter: dataConverter } = client.options
  return new RunTreeBuilder({ workflowId, namespace, dataConverter })
}

/** Pending activities, and task queues without a worker. */
interface LiveStatus {
  readonly pending: readonly PendingActivity[]
  readonly unserved: readonly Unserved[]
}

/** Reads the live status. It is unknown while the server is unavailable, which the history stream reports. */
async function fetchLiveStatus(
  client: Client,
  { workflowId, runId }: ExecutionRef,
  signal?: AbortSignal,
): Promise<LiveStatus> {
  const fetchStatus = async (): Promise<LiveStatus> => {
    const description = await client.workflow.getHandle(workflowId, runId).describe()
    const unserved = await findUnservedQueues(client, description)
    return { pending: description.raw.pendingActivities ?? [], unserved }
  }
  try {
    return await (signal ? withRequestSignal(client, signal, fetchStatus) : fetchStatus())
  } catch (thrown) {
    const isUnreachable = PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_UNREACHABLE'
    if (signal?.aborted || isUnreachable || isTransient(thrown)) return { pending: [], unserved: [] }
    throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
  }
}

/** Returns the current tree. A run that has ended waits for no queue. */
function treeWithUnserved(builder: RunTreeBuilder, unserved: readonly Unserved[]): RunTree {
  const tree = builder.tree()
  return tree.status === 'running' ? { ...tree, unserved } : tree
}
