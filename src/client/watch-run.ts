import type { Client } from '@temporalio/client'
import { underOwnSignal } from '../common/abort.js'
import { PtcError } from '../common/errors.js'
import type { Execution } from './history-pages.js'
import {
  type PendingActivity,
  RunTreeBuilder,
  type RunTree,
  type UnservedQueue,
  type ValueReader,
} from './history/index.js'
import { PacedWork } from './paced-work.js'
import { runPages } from './run-events.js'
import { mayPass, temporalError } from './temporal-error.js'
import { unservedQueues } from './unserved.js'

export interface TreeOptions {
  /** Where values are that are kept outside of the history; without it they are shown by their beginnings. */
  readonly values?: ValueReader | undefined
  /** Arguments, and more of the results, are fetched too, not only code and output. */
  readonly full?: boolean
}

export interface WatchOptions extends TreeOptions {
  /** Called with the run as it is now, soon after each change; changes in quick succession are told together. */
  readonly onChange?: (tree: RunTree) => void
  readonly signal?: AbortSignal
}

/** History says nothing of an activity until it ends: so often the server is asked what is under way. */
const pendingMs = 1_000

/**
 * Follows a run to its end, from one history into the next.
 *
 * @throws what {@link runPages} throws
 */
export async function watchRun(
  client: Client,
  execution: Execution,
  { onChange = () => undefined, signal, values, full = false }: WatchOptions,
): Promise<RunTree> {
  const builder = newBuilder(client, execution)
  let { runId } = execution
  // The builder takes one thing at a time.
  let turn: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }
  let unserved: readonly UnservedQueue[] = []
  // A run has many events: a tree for each of them would cost the square of their number.
  const telling = new PacedWork(async () => {
    if (values) await inTurn(() => builder.fetchValues(values, full, signal))
    onChange(treeOf(builder, unserved))
  })
  // A server that is gone lets a request wait for a minute: one at a time, and none is waited for in the end.
  const over = new AbortController()
  let isAsking = false
  const ask = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    try {
      const standing = await standingOf(client, { ...execution, runId }, over.signal)
      const { pending } = standing
      const hasChanged = pending.length + unserved.length + standing.unserved.length > 0
      ;({ unserved } = standing)
      if (pending.length > 0) await inTurn(() => builder.addPending(pending))
      if (hasChanged) telling.request()
    } catch {
      // The history says what is wrong.
    } finally {
      isAsking = false
    }
  }
  const poll = setInterval(() => void ask(), pendingMs)
  try {
    for await (const page of runPages(client, execution, { signal })) {
      telling.check()
      if (page.events.length === 0) continue
      await inTurn(async () => {
        runId = page.runId
        await builder.add(page.events, runId)
      })
      telling.request()
    }
  } finally {
    clearInterval(poll)
    over.abort()
    await telling.close()
    await turn
  }
  telling.check()
  if (values) await builder.fetchValues(values, full, signal)
  const tree = builder.tree()
  if (telling.isDue) onChange(tree)
  return tree
}

/** The run as it is now. */
export async function readTree(
  client: Client,
  execution: Execution,
  { values, full = false }: TreeOptions = {},
): Promise<RunTree> {
  const builder = newBuilder(client, execution)
  let { runId } = execution
  for await (const page of runPages(client, execution, { follow: false })) {
    ;({ runId } = page)
    await builder.add(page.events, runId)
  }
  const { pending, unserved } = await standingOf(client, { ...execution, runId })
  if (pending.length > 0) await builder.addPending(pending)
  if (values) await builder.fetchValues(values, full)
  return treeOf(builder, unserved)
}

function newBuilder(client: Client, { workflowId }: Execution): RunTreeBuilder {
  return new RunTreeBuilder({ workflowId, dataConverter: client.options.loadedDataConverter })
}

/** What is under way, and what it waits for in vain. */
interface Standing {
  readonly pending: readonly PendingActivity[]
  readonly unserved: readonly UnservedQueue[]
}

/** A server that is away for a moment is the history's business, which waits for it: then nothing. */
async function standingOf(client: Client, { workflowId, runId }: Execution, signal?: AbortSignal): Promise<Standing> {
  const ask = async (): Promise<Standing> => {
    const description = await client.workflow.getHandle(workflowId, runId).describe()
    const unserved = await unservedQueues(client, description)
    return { pending: description.raw.pendingActivities ?? [], unserved }
  }
  try {
    return await (signal ? underOwnSignal(signal, (own) => client.connection.withAbortSignal(own, ask)) : ask())
  } catch (thrown) {
    const isAway = PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_UNREACHABLE'
    if (signal?.aborted || isAway || mayPass(thrown)) return { pending: [], unserved: [] }
    throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
  }
}

/** The run as far as it is known. A run that has ended waits for nobody. */
function treeOf(builder: RunTreeBuilder, unserved: readonly UnservedQueue[]): RunTree {
  const tree = builder.tree()
  return tree.status === 'running' ? { ...tree, unserved } : tree
}
