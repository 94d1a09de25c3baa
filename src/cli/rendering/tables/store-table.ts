import type { ValueStat } from '../../../values/store.js'
import { formatDuration } from '../../../common/text/format.js'
import { renderColumns } from './column-table.js'

const hour = 3_600_000
/** Age groups that show what `ptc values gc` would remove. */
const ageBuckets = [
  { name: 'within an hour', ms: hour },
  { name: 'within a day', ms: 24 * hour },
  { name: 'within a week', ms: 7 * 24 * hour },
  { name: 'within 30 days', ms: 30 * 24 * hour },
  { name: 'longer ago', ms: Infinity },
] as const

/** Statistics of a value store. */
interface StoreStats {
  readonly store: string
  readonly count: number
  readonly bytes: number
  /** When the value that was put longest ago was put; null when the store is empty. */
  readonly oldest: string | null
  /** Number of values by the time at which they were put last. */
  readonly ages: readonly { readonly put: string; readonly count: number; readonly bytes: number }[]
}

export async function collectStoreStats(
  store: string,
  values: AsyncIterable<ValueStat>,
  now: Date,
): Promise<StoreStats> {
  const buckets = ageBuckets.map(({ name, ms }) => ({ put: name, ms, count: 0, bytes: 0 }))
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

export function renderStoreStats({ store, count, bytes, oldest, ages: buckets }: StoreStats, now: Date): string {
  const old = oldest === null ? 'none' : `${formatDuration(now.getTime() - new Date(oldest).getTime())} ago`
  const facts = [
    ['Store', store],
    ['Values', `${count}, ${formatDecimalBytes(bytes)}`],
    ['Oldest', old],
  ]
  const rows = buckets.filter((bucket) => bucket.count > 0)
  if (rows.length === 0) return renderColumns(facts, undefined)
  const lines = rows.map((row) => [row.put, String(row.count), formatDecimalBytes(row.bytes)])
  return `${renderColumns(facts, undefined)}\n\n${renderColumns([['PUT', 'VALUES', 'SIZE'], ...lines], undefined)}`
}

/** 950 -> "950 B", 1,500,000 -> "1.5 MB". */
export function formatDecimalBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1_000 ** step
  return `${step === 0 ? amount : amount.toFixed(1)} ${units[step] ?? ''}`
}
