import type { PtcClient } from '../client.js'
import { type CellNode, isOpen, type RunTree, type RunWait } from '../run-tree/index.js'

/** Whether the session of another workflow executes code of the run: that workflow has the calls of the code. */
export function hasSharedCell(tree: RunTree): boolean {
  return sharedCells(tree).length > 0
}

/** The tree with what the code waits for that the session of another workflow executes. */
export async function withSharedWaits<Tree extends RunTree>(ptc: Pick<PtcClient, 'handle'>, tree: Tree): Promise<Tree> {
  const cells = sharedCells(tree)
  if (cells.length === 0) return tree
  const others = await Promise.all(cells.map((cell) => waitsOfOwner(ptc, cell)))
  return { ...tree, waitsFor: [...tree.waitsFor, ...others.flat()] }
}

async function waitsOfOwner(ptc: Pick<PtcClient, 'handle'>, { owner, code }: CellNode): Promise<readonly RunWait[]> {
  const tree = await ptc.handle(owner?.workflowId ?? '').tree()
  // It may execute the cell of somebody else before.
  return cellsOf(tree).some((cell) => isOpen(cell.status) && cell.code === code) ? tree.waitsFor : []
}

function sharedCells(tree: RunTree): readonly CellNode[] {
  return cellsOf(tree).filter(({ status, owner }) => owner !== undefined && isOpen(status))
}

function cellsOf({ turns }: RunTree): readonly CellNode[] {
  return turns.flatMap(({ cells }) => cells)
}
