/**
 * A reported number of tokens; undefined for other values. Counts are not part of a reply, so an invalid count does not
 * make the reply invalid.
 */
export function tokenCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) return undefined
  return Math.min(Math.trunc(count), Number.MAX_SAFE_INTEGER)
}
