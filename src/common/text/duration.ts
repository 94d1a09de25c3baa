const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, or a number with a unit: `'500ms'`, `'30s'`, `'2m'`, `'1h'`, `'3d'`. */
export type Duration = number | `${number}${keyof typeof units}`

/** Longer durations overflow a Node timer, which then fires at once. */
const maxDurationMs = 2 ** 31 - 1

/**
 * Whole milliseconds of a positive duration of at most 24 days, the maximum of a Node timer; undefined for other
 * values.
 */
export function parseDuration(duration: unknown, maxMs = maxDurationMs): number | undefined {
  const ms = typeof duration === 'string' ? parseText(duration) : duration
  if (typeof ms !== 'number' || !(ms > 0 && ms <= maxMs)) return undefined
  return Math.max(1, Math.round(ms))
}

/** A duration for messages, in the largest unit that divides it. */
export function formatDuration(ms: number): string {
  if (ms % units.h === 0) return `${ms / units.h} h`
  if (ms % units.m === 0) return `${ms / units.m} min`
  return ms >= units.s ? `${ms / units.s} s` : `${ms} ms`
}

function parseText(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  return match === null ? undefined : Number(match[1]) * units[match[2] as keyof typeof units]
}
