import type { Client } from '@temporalio/client'
import { RunTreeBuilder, type RunTree } from './history/index.js'
import { type Execution, historyPages } from './run-events.js'
import { mayPass, temporalError } from './temporal-error.js'

export interface WatchOptions {
  /** Called with the run as it is now, after every change. */
  readonly onChange?: (tree: RunTree) => void
  readonly signal?: AbortSignal
}

/** History says nothing of an activity until it ends: so often the server is asked what is under way. */
const pendingMs = 1_000

/**
 * Follows a run to its end.
 *
 * @throws what {@link historyPages} throws
 */
export async function watchRun(
  client: Client,
  execution: Execution,
  { onChange = () => undefined, signal }: WatchOptions,
): Promise<RunTree> {
  const builder = newBuilder(client)
  // The builder takes one thing at a time.
  let turn: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }
  const poll = setInterval(() => {
    inTurn(() => addPending(client, execution, builder, onChange)).catch(() => undefined)
  }, pendingMs)
  try {
    for await (const page of historyPages(client, execution, signal ? { signal } : {})) {
      if (page.length === 0) continue
      await inTurn(() => builder.add(page))
      onChange(builder.tree())
    }
  } finally {
    clearInterval(poll)
    await turn
  }
  return builder.tree()
}

/** The run as it is now. */
export async function readTree(client: Client, execution: Execution): Promise<RunTree> {
  const builder = newBuilder(client)
  for await (const page of historyPages(client, execution, { follow: false })) await builder.add(page)
  await addPending(client, execution, builder, () => undefined)
  return builder.tree()
}

function newBuilder(client: Client): RunTreeBuilder {
  return new RunTreeBuilder({ dataConverter: client.options.loadedDataConverter })
}

/** A server that is away for a moment is the history's business, which waits for it. */
async function addPending(
  client: Client,
  { workflowId, runId }: Execution,
  builder: RunTreeBuilder,
  onChange: (tree: RunTree) => void,
): Promise<void> {
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe()
    const pending = raw.pendingActivities ?? []
    if (pending.length === 0) return
    await builder.addPending(pending)
    onChange(builder.tree())
  } catch (thrown) {
    if (!mayPass(thrown)) throw temporalError(thrown, `look up run ${workflowId}`, workflowId)
  }
}
