import { PtcError } from '../common/errors.js'
import { KeyFinder } from './find-keys.js'
import type { ValueStat, ValueStore } from './store.js'

export interface GarbageOptions {
  readonly store: ValueStore
  /** Everything outside of the store that may refer to values. Asked for only when there is something to remove. */
  readonly roots: () => AsyncIterable<Uint8Array>
  /** Only what was last put before this moment (milliseconds since the epoch) is removed. */
  readonly unusedSince: number
  /** Tell, and remove nothing. */
  readonly dryRun: boolean
  readonly signal: AbortSignal
}

export interface GarbageReport {
  /** What was in the store when it began. */
  readonly values: Amount
  /** What was removed, or would be. */
  readonly removed: Amount
  /** Values that something refers to and that can't be read; what they refer to could not be seen. */
  readonly unreadable: number
}

export interface Amount {
  readonly count: number
  readonly bytes: number
}

/**
 * Removes what nothing refers to any more: marks what the roots refer to, what that refers to, and so on, and removes the rest
 * if it is old enough. What is put meanwhile, again or for the first time, stays. A root or a value that can't be reached ends it
 * before anything is removed.
 *
 * @throws PtcError of the store, what reading a root throws, the signal's reason
 */
export async function collectGarbage(options: GarbageOptions): Promise<GarbageReport> {
  const { store, unusedSince, dryRun, signal } = options
  const known = new Map<string, ValueStat>()
  for await (const value of store.list(signal)) known.set(value.sha256, value)
  const old = [...known.values()].filter(({ usedAt }) => usedAt < unusedSince)
  const { marked, unreadable } = old.length === 0 ? nothingMarked : await mark(options, known)
  const removed: ValueStat[] = []
  for (const value of old) {
    if (marked.has(value.sha256)) continue
    if (dryRun || (await store.remove(value.sha256, signal, unusedSince))) removed.push(value)
  }
  return { values: amountOf([...known.values()]), removed: amountOf(removed), unreadable }
}

interface Marked {
  readonly marked: ReadonlySet<string>
  readonly unreadable: number
}

const nothingMarked: Marked = { marked: new Set(), unreadable: 0 }

async function mark(options: GarbageOptions, known: ReadonlyMap<string, ValueStat>): Promise<Marked> {
  const { store, roots, signal } = options
  const marked = new Set<string>()
  const isNew = (key: string): boolean => known.has(key) && !marked.has(key)
  for await (const root of roots()) {
    signal.throwIfAborted()
    for (const key of new KeyFinder(isNew).find(root)) marked.add(key)
  }
  let unreadable = 0
  // A Set goes on with what is added while it is walked.
  for (const key of marked) {
    const value = known.get(key)
    const finder = new KeyFinder(isNew)
    try {
      if (value)
        for await (const piece of store.read(value, signal)) for (const found of finder.find(piece)) marked.add(found)
    } catch (thrown) {
      if (!isAboutOneValue(thrown)) throw thrown
      unreadable += 1
    }
  }
  return { marked, unreadable }
}

function isAboutOneValue(thrown: unknown): boolean {
  return PtcError.isInstance(thrown) && (thrown.code === 'VALUE_MISSING' || thrown.code === 'VALUE_CORRUPT')
}

function amountOf(values: readonly ValueStat[]): Amount {
  return { count: values.length, bytes: values.reduce((sum, { bytes }) => sum + bytes, 0) }
}
