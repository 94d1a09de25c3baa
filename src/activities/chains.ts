import type { Chain, ChainNode } from '../common/chain.js'
import type { JsonValue } from '../common/json.js'
import { heldElsewhere } from '../common/values.js'
import type { Values } from '../values/values.js'

/** A longer chain is made one value again when it grows: reading it back takes a step for each. */
const mostNodes = 16

/** Puts items, which are plain JSON, behind a chain. What stands before them is read only when the chain has become long. */
export async function appendToChain(
  values: Values,
  before: Chain | null,
  items: readonly unknown[],
  neededBy: string,
  signal: AbortSignal,
): Promise<Chain> {
  const isLong = before !== null && before.nodes >= mostNodes
  const node: ChainNode<unknown> = isLong
    ? { before: null, items: [...(await readChain(values, before, neededBy, signal)), ...items] }
    : { before, items }
  const head = await values.keep(node as unknown as JsonValue, signal)
  return { head, nodes: isLong ? 1 : (before?.nodes ?? 0) + 1, items: (before?.items ?? 0) + items.length }
}

/**
 * The items of a chain from this one on, counted from 0; what stands before is not read. The shape of items is what {@link appendToChain} was given: content that was changed
 * is not read.
 *
 * @throws PtcError VALUE_MISSING, VALUE_CORRUPT, naming what needed it
 */
export async function readChain<Item = unknown>(
  values: Values,
  chain: Chain | null,
  neededBy: string,
  signal: AbortSignal,
  from = 0,
): Promise<Item[]> {
  const lists: (readonly Item[])[] = []
  let at = chain
  while (at !== null && at.items > from) {
    const node = (await values.load(heldElsewhere(at.head), neededBy, signal)) as unknown as ChainNode<Item>
    lists.push(node.items)
    at = node.before
  }
  return lists
    .toReversed()
    .flat()
    .slice(Math.max(from - (at?.items ?? 0), 0))
}
