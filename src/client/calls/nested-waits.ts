import type { PtcClient } from '../client.js'
import { type CallNode, type CallWait, type CellNode, isOpen, type RunTree } from '../run-tree/index.js'
import { treeIfPresent } from '../run/open-waits.js'

/*
 * A run waits also for what other workflows wait for: its sub-agents, and the sessions of other workflows that execute
 * its code. Their histories have these waits, and that of the run does not change when one begins.
 */

/** A workflow that works for a run. */
interface Place {
  readonly workflowId: string
  /** Only its cells with this code are of the run. Undefined: all are, and its direct calls. */
  readonly code?: string
}

/** Bounds of what is read for one run. */
const maxDepth = 8
const maxWorkflows = 50
/** Workflows whose histories are read at once. */
const concurrency = 5

type Reader = Pick<PtcClient, 'handle'>

/** Whether other workflows work for the run: sub-agents, or sessions that execute its code. */
export function hasNestedWork(tree: RunTree): boolean {
  return placesOf(tree).length > 0
}

/** The tree with what those calls wait for that other workflows make for the run; the oldest wait first. */
export async function withNestedWaits<Tree extends RunTree>(ptc: Reader, tree: Tree): Promise<Tree> {
  const nested = await nestedWaits(ptc, tree)
  if (nested.length === 0) return tree
  return { ...tree, waitsFor: [...tree.waitsFor, ...nested].toSorted((one, other) => one.since - other.since) }
}

async function nestedWaits(ptc: Reader, tree: RunTree): Promise<readonly CallWait[]> {
  const seen = new Set<string>()
  // A session may execute the code of several cells.
  const found = new Map<string, CallWait>()
  let places = placesOf(tree)
  for (let depth = 0; depth < maxDepth && places.length > 0; depth += 1) {
    const added: Place[] = []
    for (const place of places) {
      const key = `${place.workflowId} ${place.code ?? ''}`
      // The sandbox of a run may be that of its sub-agents: the tree has these calls.
      if (place.workflowId === tree.workflowId || seen.has(key) || seen.size >= maxWorkflows) continue
      seen.add(key)
      added.push(place)
    }
    const below: Place[] = []
    for (let from = 0; from < added.length; from += concurrency) {
      const reads = added.slice(from, from + concurrency).map((place) => readPlace(ptc, place))
      for (const read of await Promise.all(reads)) {
        for (const wait of read.waits) found.set(wait.token, wait)
        below.push(...read.places)
      }
    }
    places = below
  }
  return [...found.values()]
}

async function readPlace(
  ptc: Reader,
  { workflowId, code }: Place,
): Promise<{ readonly waits: readonly CallWait[]; readonly places: readonly Place[] }> {
  // A workflow of a remote tool may be in another namespace.
  const tree = await treeIfPresent((id) => ptc.handle(id).tree(), workflowId)
  if (!tree) return { waits: [], places: [] }
  const cells = cellsOf(tree).filter((cell) => code === undefined || (isOpen(cell.status) && cell.code === code))
  // A session may execute the cell of somebody else before.
  if (code !== undefined && cells.length === 0) return { waits: [], places: [] }
  // Neither a session nor a sub-agent waits for a larger budget.
  const waits = tree.waitsFor.flatMap((wait) => (wait.type === 'budget' ? [] : [{ ...wait, workflowId }]))
  return { waits, places: code === undefined ? placesOf(tree) : placesOfCells(cells) }
}

function placesOf(tree: RunTree): readonly Place[] {
  if (tree.endedAt !== undefined) return []
  const direct = tree.turns.flatMap(({ directCalls }) => directCalls.flatMap(placesOfCall))
  return [...placesOfCells(cellsOf(tree)), ...direct]
}

function placesOfCells(cells: readonly CellNode[]): readonly Place[] {
  return cells.flatMap(({ status, owner, code, calls }) => [
    ...(owner !== undefined && isOpen(status) ? [{ workflowId: owner.workflowId, code }] : []),
    ...calls.flatMap(placesOfCall),
  ])
}

function placesOfCall({ status, workflowId }: CallNode): readonly Place[] {
  return workflowId !== undefined && isOpen(status) ? [{ workflowId }] : []
}

function cellsOf({ turns }: RunTree): readonly CellNode[] {
  return turns.flatMap(({ cells }) => cells)
}
