import { canonicalJson } from '../../common/json/canonical-json.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'

/** The first example of each shape. An example that differs only in its values adds little. */
export function differentShapes(examples: readonly JsonObject[]): readonly JsonObject[] {
  const byShape = new Map<string, JsonObject>()
  for (const example of examples) {
    const shape = canonicalJson(shapeOf(example))
    if (!byShape.has(shape)) byShape.set(shape, example)
  }
  return [...byShape.values()]
}

/** The value with types in place of its texts, numbers and booleans. */
function shapeOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (!isJsonObject(value)) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]))
}
