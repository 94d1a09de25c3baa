import type { ValueRef } from './external-value.js'

/**
 * An append-only list in the value store. Each append writes one segment, which refers to the segments before it.
 *
 * Invariants:
 * 1. A segment never changes: its key is the hash of its content.
 * 2. `length` counts the items of all segments.
 * 3. A log of 16 segments or more is compacted by the next append (`values/value-log.ts`).
 */
export interface ValueLog {
  /** The latest segment. */
  readonly head: ValueRef
  readonly segments: number
  readonly length: number
}

/** One stored segment of a {@link ValueLog}. */
export interface ValueLogSegment<Item> {
  readonly previous: ValueLog | null
  readonly items: readonly Item[]
}
