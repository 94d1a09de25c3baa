import type { JsonValue } from './json.js'

/** JSON with sorted keys, in the order of RFC 8785 (by UTF-16 code units): equal values have equal text. */
export function canonicalJson(value: JsonValue): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
