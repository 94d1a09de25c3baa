import type { ValueStat } from '../../values/store.js'
import { formatDuration } from '../render/format.js'
import { table } from './table.js'

const hour = 3_600_000
/** Ages that tell what `ptc values gc` would find. */
const ages = [
  { name: 'within an hour', ms: hour },
  { name: 'within a day', ms: 24 * hour },
  { name: 'within a week', ms: 7 * 24 * hour },
  { name: 'within 30 days', ms: 30 * 24 * hour },
  { name: 'longer ago', ms: Infinity },
] as const

/** What a store has, in numbers. */
export interface StoreFacts {
  readonly store: string
  readonly count: number
  readonly bytes: number
  /** When the value used longest ago was put last; null when there are none. */
  readonly oldest: string | null
  /** By when they were put last. */
  readonly ages: readonly { readonly put: string; readonly count: number; readonly bytes: number }[]
}

/** Counts values as they pass by. */
export async function storeFacts(store: string, values: AsyncIterable<ValueStat>, now: Date): Promise<StoreFacts> {
  const buckets = ages.map(({ name, ms }) => ({ put: name, ms, count: 0, bytes: 0 }))
  let oldest = Infinity
  for await (const { bytes, usedAt } of values) {
    oldest = Math.min(oldest, usedAt)
    const bucket = buckets.find(({ ms }) => now.getTime() - usedAt < ms)
    if (bucket === undefined) continue
    bucket.count += 1
    bucket.bytes += bytes
  }
  return {
    store,
    count: buckets.reduce((sum, { count }) => sum + count, 0),
    bytes: buckets.reduce((sum, { bytes }) => sum + bytes, 0),
    oldest: oldest === Infinity ? null : new Date(oldest).toISOString(),
    ages: buckets.map(({ put, count, bytes }) => ({ put, count, bytes })),
  }
}

export function factsTable({ store, count, bytes, oldest, ages: buckets }: StoreFacts, now: Date): string {
  const old = oldest === null ? 'none' : `${formatDuration(now.getTime() - new Date(oldest).getTime())} ago`
  const facts = [
    ['Store', store],
    ['Values', `${count}, ${bytesInWords(bytes)}`],
    ['Oldest', old],
  ]
  const rows = buckets.filter((bucket) => bucket.count > 0)
  if (rows.length === 0) return table(facts, undefined)
  const lines = rows.map((row) => [row.put, String(row.count), bytesInWords(row.bytes)])
  return `${table(facts, undefined)}\n\n${table([['PUT', 'VALUES', 'SIZE'], ...lines], undefined)}`
}

/** 950 -> "950 B", 1,500,000 -> "1.5 MB". */
export function bytesInWords(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1_000 ** step
  return `${step === 0 ? amount : amount.toFixed(1)} ${units[step] ?? ''}`
}
