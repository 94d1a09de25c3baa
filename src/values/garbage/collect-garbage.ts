import { PtcError } from '../../common/errors.js'
import { KeyFinder } from './key-finder.js'
import type { ValueStat, ValueStore } from '../store.js'

interface CollectGarbageOptions {
  readonly store: ValueStore
  /** Returns all content outside of the store that may refer to values. Called only if there are values to remove. */
  readonly roots: () => AsyncIterable<Uint8Array>
  /** Only values with a last put before this time (milliseconds since 1970) are removed. */
  readonly unusedSince: number
  /** When true, the collection only reports, and removes nothing. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
}

export interface GarbageReport {
  /** The values in the store at the start. */
  readonly values: ValueTotals
  /** The removed values; with `dryRun`, those that would be removed. */
  readonly removed: ValueTotals
  /** Number of referenced values that can't be read, so that their own references are unknown. */
  readonly unreadable: number
}

interface ValueTotals {
  readonly count: number
  readonly bytes: number
}

/**
 * Mark and sweep: marks every value that the roots refer to, directly or through other values, and removes unmarked
 * values that are old enough. Values put during the collection stay. If a root can't be read or the store is
 * unavailable, nothing is removed.
 *
 * @throws PtcError of the store, the error of reading a root, the signal's reason
 */
export async function collectGarbage(options: CollectGarbageOptions): Promise<GarbageReport> {
  const { store, unusedSince, dryRun, signal } = options
  const stored = new Map<string, ValueStat>()
  for await (const value of store.list(signal)) stored.set(value.sha256, value)
  const candidates = [...stored.values()].filter(({ usedAt }) => usedAt < unusedSince)
  const { marked, unreadable } = candidates.length === 0 ? nothingMarked : await mark(options, stored)
  const removed: ValueStat[] = []
  for (const value of candidates) {
    if (marked.has(value.sha256)) continue
    if (dryRun || (await store.remove(value.sha256, signal, unusedSince))) removed.push(value)
  }
  return { values: totalsOf([...stored.values()]), removed: totalsOf(removed), unreadable }
}

interface RemoveValuesOptions {
  readonly store: ValueStore
  /** Returns the content that refers to the values to remove. */
  readonly of: () => AsyncIterable<Uint8Array>
  /**
   * Returns all other content outside of the store that may refer to values. Called only if there are values to remove.
   */
  readonly others: () => AsyncIterable<Uint8Array>
}

/**
 * Finds the values that only some of all roots refer to, directly or through other values.
 *
 * @throws PtcError of the store, the error of reading a root, the signal's reason
 */
export async function findExclusiveValues(
  { store, of, others }: RemoveValuesOptions,
  signal: AbortSignal,
): Promise<readonly ValueStat[]> {
  const stored = new Map<string, ValueStat>()
  for await (const value of store.list(signal)) stored.set(value.sha256, value)
  const own = await mark({ store, roots: of, signal }, stored)
  if (own.marked.size === 0) return []
  const shared = await mark({ store, roots: others, signal }, stored)
  return [...stored.values()].filter(({ sha256 }) => own.marked.has(sha256) && !shared.marked.has(sha256))
}

interface MarkResult {
  readonly marked: ReadonlySet<string>
  readonly unreadable: number
}

const nothingMarked: MarkResult = { marked: new Set(), unreadable: 0 }

async function mark(
  options: Pick<CollectGarbageOptions, 'store' | 'roots' | 'signal'>,
  stored: ReadonlyMap<string, ValueStat>,
): Promise<MarkResult> {
  const { store, roots, signal } = options
  const marked = new Set<string>()
  const isUnmarked = (key: string): boolean => stored.has(key) && !marked.has(key)
  for await (const root of roots()) {
    signal.throwIfAborted()
    for (const key of new KeyFinder(isUnmarked).find(root)) marked.add(key)
  }
  let unreadable = 0
  // The iteration includes keys that are added to the Set meanwhile.
  for (const key of marked) {
    const value = stored.get(key)
    const finder = new KeyFinder(isUnmarked)
    try {
      if (value)
        for await (const piece of store.read(value, signal)) for (const found of finder.find(piece)) marked.add(found)
    } catch (thrown) {
      if (!isValueError(thrown)) throw thrown
      unreadable += 1
    }
  }
  return { marked, unreadable }
}

function isValueError(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && (thrown.code === 'VALUE_MISSING' || thrown.code === 'VALUE_CORRUPT')
}

function totalsOf(values: readonly ValueStat[]): ValueTotals {
  return { count: values.length, bytes: values.reduce((sum, { bytes }) => sum + bytes, 0) }
}
