/**
 * A reported number of tokens; undefined for what is none. Counts are no part of a reply, so an odd one does not decide
 * whether the reply is used.
 */
export function tokenCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) return undefined
  return Math.min(Math.trunc(count), Number.MAX_SAFE_INTEGER)
}
