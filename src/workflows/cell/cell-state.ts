import type { Externalizable } from '../../common/external-value.js'

/** Where a cell is, between two of its steps. Times are milliseconds since the epoch. */
export interface CellState {
  /** Of the cell in its run. */
  readonly number: number
  readonly turn: number
  /** When its time is over. */
  readonly deadline: number
  /** When a timer of the program is due; null: it has none. */
  readonly wakeAt: number | null
  /** Calls it has made. */
  readonly calls: number
  /** Times it was woken with nothing new. */
  readonly wakes: number
  readonly output: { readonly parts: readonly Externalizable<string>[]; readonly length: number }
}
