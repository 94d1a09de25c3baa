import type { ValueRef } from './values.js'

/** A list that is kept elsewhere and grows at its end: what is appended is one value, which refers to what stands before it. */
export interface Chain {
  readonly head: ValueRef
  /** Values it consists of. */
  readonly nodes: number
  readonly items: number
}

/** How a value of a chain is kept. */
export interface ChainNode<Item> {
  readonly before: Chain | null
  readonly items: readonly Item[]
}
