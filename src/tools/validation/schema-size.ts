import type { JsonObject, JsonValue } from '../../common/json/json.js'

/** Schemas with deeper nesting count as endless. */
const maxDepth = 200

/**
 * The number of parts of a JSON Schema when each reference is replaced by its target, which is the cost of converting
 * it. A few references to references can stand for more parts than there are atoms. A recursive reference is one part.
 *
 * @returns at most `Number.MAX_VALUE`
 */
export function schemaSize(schema: JsonObject): number {
  const sizes = new Map<JsonValue, number>()
  const sizeOf = (part: JsonValue | undefined, depth: number): number => {
    if (typeof part !== 'object' || part === null) return 0
    if (depth > maxDepth) return Number.MAX_VALUE
    const known = sizes.get(part)
    if (known !== undefined) return known
    sizes.set(part, 1) // while it is being counted: a reference to it is recursive
    const reference = Array.isArray(part) ? undefined : (part as JsonObject)['$ref']
    const target = typeof reference === 'string' ? resolve(schema, reference) : undefined
    const members: readonly (JsonValue | undefined)[] = [...Object.values(part), target]
    const size = members.reduce<number>((sum, member) => Math.min(sum + sizeOf(member, depth + 1), Number.MAX_VALUE), 1)
    sizes.set(part, size)
    return size
  }
  return sizeOf(schema, 0)
}

/** The target of a reference within the schema; undefined for any other reference. */
function resolve(schema: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined
  let part: JsonValue | undefined = schema
  for (const name of reference.split('/').slice(1)) {
    if (typeof part !== 'object' || part === null) return undefined
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    part = Object.hasOwn(part, key) ? (part as JsonObject)[key] : undefined
  }
  return part
}
