import type { Usage } from '../agent/messages.js'
import { promptTokens } from '../run/runs.js'
import { formatCompactNumber } from './text.js'

/** 4 -> "4ms", 1234 -> "1.2s", 75_000 -> "1m 15s", 3_700_000 -> "1h 1m", 200_000_000 -> "2d 7h". */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(Math.round(milliseconds), 0)
  if (ms < 1_000) return `${ms}ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return twoUnits(Math.floor(seconds / 60), 'm', seconds % 60, 's')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 24 * 60) return twoUnits(Math.floor(minutes / 60), 'h', minutes % 60, 'm')
  const hours = Math.floor(minutes / 60)
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

/** 1234 in, 56 out -> "1.2k in · 56 out". Tokens read from the cache are included, and shown separately. */
export function formatTokens(usage: Usage): string {
  const cached = usage.cacheReadTokens > 0 ? ` (${formatCompactNumber(usage.cacheReadTokens)} cached)` : ''
  return `${formatCompactNumber(promptTokens(usage))} in${cached} · ${formatCompactNumber(usage.outputTokens)} out`
}

/** Formats US dollars with their significant digits: "$0.0086", "$1.20"; "cost unknown" for a model without a price. */
export function formatCost(usd: number | null): string {
  if (usd === null) return 'cost unknown'
  if (usd === 0) return '$0.00'
  if (usd < 0.0001) return '<$0.0001'
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`
}

/** 950 -> "950 B", 12_345 -> "12.1 KB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_024 * 1_023.95) return `${(bytes / 1_024).toFixed(1)} KB`
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MB`
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`
}
