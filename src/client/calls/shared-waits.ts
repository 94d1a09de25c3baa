import type { PtcClient } from '../client.js'
import { type CellNode, isOpen, type RunTree, type RunWait } from '../run-tree/index.js'

/**
 * Returns whether the session of another workflow executes code of the run. That workflow has the calls of the code.
 */
export function hasSharedCell(tree: RunTree): boolean {
  return sharedCells(tree).length > 0
}

/** Adds to the tree the waits of code that the session of another workflow executes. */
export async function withSharedWaits<Tree extends RunTree>(ptc: Pick<PtcClient, 'handle'>, tree: Tree): Promise<Tree> {
  const cells = sharedCells(tree)
  if (cells.length === 0) return tree
  const others = await Promise.all(cells.map((cell) => waitsOfOwner(ptc, cell)))
  return { ...tree, waitsFor: [...tree.waitsFor, ...others.flat()] }
}

async function waitsOfOwner(ptc: Pick<PtcClient, 'handle'>, { owner, code }: CellNode): Promise<readonly RunWait[]> {
  const tree = await ptc.handle(owner?.workflowId ?? '').tree()
  // The session may execute a cell of another run first.
  return cellsOf(tree).some((cell) => isOpen(cell.status) && cell.code === code) ? tree.waitsFor : []
}

function sharedCells(tree: RunTree): readonly CellNode[] {
  return cellsOf(tree).filter(({ status, owner }) => owner !== undefined && isOpen(status))
}

function cellsOf({ turns }: RunTree): readonly CellNode[] {
  return turns.flatMap(({ cells }) => cells)
}
