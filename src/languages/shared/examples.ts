import { canonicalJson } from '../../common/json/canonical-json.js'
import type { DocumentedTool } from '../language.js'
import { parametersOf } from '../parameters.js'
import { isShownPattern } from './constraints.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'

/**
 * The examples that say what the types do not: the first one of each shape, because values alone add little. None with
 * only the required arguments, if the type of each names its values, or its pattern describes them.
 */
export function tellingExamples({ inputExamples, inputSchema }: DocumentedTool): readonly JsonObject[] {
  const parameters = parametersOf(inputSchema)
  const isPlain = (example: JsonObject): boolean =>
    parameters.every(({ name, schema, required }) => (name in example ? required && namesItsValues(schema) : !required))
  const byShape = new Map<string, JsonObject>()
  for (const example of inputExamples) {
    if (isPlain(example)) continue
    const shape = canonicalJson(shapeOf(example))
    if (!byShape.has(shape)) byShape.set(shape, example)
  }
  return [...byShape.values()]
}

function namesItsValues(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false
  const { type, enum: options, const: only, pattern } = schema
  return options !== undefined || only !== undefined || type === 'boolean' || isShownPattern(pattern)
}

/** The value with types in place of its texts, numbers and booleans. */
function shapeOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (!isJsonObject(value)) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]))
}
