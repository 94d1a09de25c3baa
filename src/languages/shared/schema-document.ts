import { canonicalJson } from '../../common/json/canonical-json.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'

/** A JSON Schema, or a part of one. */
export type Schema = JsonValue | undefined

/** The target of a `$ref`: `#`, `#/$defs/X`, or any other pointer into the document. */
export function resolveReference(document: JsonObject, reference: string): Schema {
  if (!reference.startsWith('#')) return undefined
  return reference
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Schema>(
      (node, part) => (isJsonObject(node) && Object.hasOwn(node, part) ? node[part] : undefined),
      document,
    )
}

/**
 * The identity of an object schema. Schemas with the same identity are the same type: their annotations may differ, but
 * their members, and everything that these refer to, are equal.
 */
export function identityOf(document: JsonObject, schema: JsonObject): string {
  const members = withoutAnnotations(schema)
  const reached = new Map<string, JsonValue>()
  const pending: JsonValue[] = [members]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const [, reference] of JSON.stringify(at).matchAll(/"\$ref":"([^"]*)"/g)) {
      if (reference === undefined || reached.has(reference)) continue
      const target = resolveReference(document, reference) ?? null
      const plain = isJsonObject(target) ? withoutAnnotations(target) : target
      reached.set(reference, plain)
      pending.push(plain)
    }
  }
  return canonicalJson([members, Object.fromEntries(reached)])
}

const annotationKeywords: ReadonlySet<string> = new Set(['title', 'id', 'description', 'examples', 'default', '$defs'])

function withoutAnnotations(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !annotationKeywords.has(key)))
}
