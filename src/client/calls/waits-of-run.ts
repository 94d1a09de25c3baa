import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { encodeCompletionToken } from '../../common/calls/completion-token.js'
import type { HelperWorkflow, WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { PtcError } from '../../common/errors.js'
import { waitsQuery } from '../../common/names.js'
import { fetchRunInfo } from '../run/run-info.js'
import type { WaitOfRun } from './open-waits.js'
import { runError } from '../run/run-error.js'
import { type CallNode, isOpen, type RunTree, type RunWait } from '../run-tree/index.js'
import { queryRun } from '../temporal/query-run.js'
import { failWithoutWorker } from '../workers/worker-availability.js'

/*
 * A run also waits for what its helpers wait for: its sub-agents, and the sessions of other workflows that execute its
 * code. The history of the run does not change when one of these waits begins, so its workflow names the helpers, and
 * each workflow is asked by a query.
 */

/** Bounds of the workflows that are asked for one run. */
const maxDepth = 8
const maxHelpers = 50
/** Workflows that are asked at once. */
const concurrency = 5

/**
 * Returns what a run waits for, with the calls of its helpers; the oldest wait first.
 *
 * @throws PtcError TEMPORAL_NOT_FOUND, WORKER_MISSING, TEMPORAL_UNREACHABLE
 */
export async function waitsOfRun(client: Client, workflowId: string): Promise<readonly WaitOfRun[]> {
  const run = await fetchRunInfo(client, { workflowId, runId: undefined })
  if (run.endedAt !== undefined) return []
  const waits = await askWithHelpers((id) => ask(client, id), workflowId)
  const found = [...waits].flatMap(([id, answer]): readonly RunWait[] => {
    const ofWorkflow = toRunWaits(client, id, answer)
    if (id === workflowId) return ofWorkflow
    // A helper does not wait for a larger budget.
    return ofWorkflow.flatMap((wait) => (wait.type === 'budget' ? [] : [{ ...wait, workflowId: id }]))
  })
  return found.toSorted((one, other) => one.since - other.since).map((wait) => ({ run, wait }))
}

/** Returns the waits that a workflow has answered, with their tokens. */
export function toRunWaits(
  { options: { namespace } }: Client,
  workflowId: string,
  { firstExecutionRunId, calls, paused }: WorkflowWaits,
): readonly RunWait[] {
  const ofCalls = calls.map(({ idempotencyKey, signature, ...call }) => ({
    ...call,
    token: encodeCompletionToken({ namespace, workflowId, firstExecutionRunId, idempotencyKey, signature }),
  }))
  return paused ? [...ofCalls, { type: 'budget', ...paused }] : ofCalls
}

/**
 * Asks a run and its helpers. Exported for tests.
 *
 * @param askOne asks one workflow; undefined when it has ended
 */
export async function askWithHelpers(
  askOne: (workflowId: string) => Promise<WorkflowWaits | undefined>,
  root: string,
): Promise<ReadonlyMap<string, WorkflowWaits>> {
  const found = new Map<string, WorkflowWaits>()
  const asked = new Set<string>()
  let helpers: readonly (HelperWorkflow & { readonly of: string })[] = [{ workflowId: root, of: '' }]
  for (let depth = 0; depth <= maxDepth && helpers.length > 0; depth += 1) {
    const next = helpers.filter(({ workflowId, of }) => {
      const key = `${workflowId} ${of}`
      // The owner of the session of a sub-agent may be the run itself.
      if (found.has(workflowId) || asked.has(key) || asked.size > maxHelpers) return false
      asked.add(key)
      return true
    })
    const below: (typeof helpers)[number][] = []
    for (let from = 0; from < next.length; from += concurrency) {
      const asking = next.slice(from, from + concurrency).map(async ({ workflowId, hasCell, of }) => {
        const waits = await askOne(workflowId)
        // A session may execute the cell of another run before.
        if (!waits || (hasCell === true && waits.servedRun !== of)) return
        found.set(workflowId, waits)
        below.push(...waits.helpers.map((helper) => ({ ...helper, of: workflowId })))
      })
      await Promise.all(asking)
    }
    helpers = below
  }
  return found
}

async function ask(client: Client, workflowId: string): Promise<WorkflowWaits | undefined> {
  const awaitedWork = { failedAction: `can't read what run ${workflowId} waits for`, isQuery: true }
  try {
    return await failWithoutWorker(client, { workflowId, runId: undefined }, awaitedWork, () =>
      queryRun<WorkflowWaits>(client, { workflowId }, waitsQuery),
    )
  } catch (thrown) {
    throw PtcError.isInstance(thrown) ? thrown : runError(thrown, workflowId)
  }
}

/** Returns whether a run has helpers, according to its tree. */
export function hasHelpers({ endedAt, turns }: RunTree): boolean {
  const isHelper = ({ status, workflowId }: CallNode): boolean => workflowId !== undefined && isOpen(status)
  return (
    endedAt === undefined &&
    turns.some(
      ({ cells, directCalls }) =>
        directCalls.some(isHelper) ||
        cells.some(({ status, owner, calls }) => (owner !== undefined && isOpen(status)) || calls.some(isHelper)),
    )
  )
}

/** The client, which imports this module. */
interface WaitsReader {
  waits(options: { readonly run: string }): Promise<readonly WaitOfRun[]>
}

/** Adds what the helpers of a run wait for to its tree, the oldest wait first, unless there is no worker to ask. */
export async function withNestedWaits<Tree extends RunTree>(ptc: WaitsReader, tree: Tree): Promise<Tree> {
  if (!hasHelpers(tree)) return tree
  try {
    return withWaits(tree, await ptc.waits({ run: tree.workflowId }))
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'WORKER_MISSING') return tree
    throw thrown
  }
}

/** Adds the waits of helpers to the tree of a run. */
export function withWaits<Tree extends RunTree>(tree: Tree, waits: readonly WaitOfRun[]): Tree {
  const nested = waits.flatMap(({ wait }) => ('workflowId' in wait ? [wait] : []))
  if (nested.length === 0) return tree
  return { ...tree, waitsFor: [...tree.waitsFor, ...nested].toSorted((one, other) => one.since - other.since) }
}

/** Interval between two reads of a watcher. */
const watchIntervalMs = 3_000

/**
 * Yields what a run waits for, with the calls of its helpers, again and again until the signal is aborted. A read that
 * fails yields nothing.
 *
 * @param isNeeded whether to read now
 */
export async function* watchWaitsOfRun(
  ptc: WaitsReader,
  workflowId: string,
  signal: AbortSignal,
  isNeeded: () => boolean = () => true,
): AsyncGenerator<readonly WaitOfRun[], void, undefined> {
  while (!signal.aborted) {
    await delay(watchIntervalMs, undefined, { signal }).catch(() => undefined) // an abort ends the delay early
    if (signal.aborted || !isNeeded()) continue
    const waits = await ptc.waits({ run: workflowId }).catch(() => undefined)
    if (waits && !signal.aborted) yield waits
  }
}
