import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import { takeStart } from '../../../../common/text/text.js'
import { isJsonType } from './media-types.js'
import type { References } from './references.js'

/** Parts of a schema that a response shows. A response is not checked, so that its schema may be incomplete. */
const maxParts = 80
const maxLevels = 4
const maxDescriptionCharacters = 120

/**
 * What the successful responses of an operation have, for readers: the members of the first levels. Any JSON where the
 * document says nothing that can be read.
 */
export function responseSchemaOf(responses: JsonValue | undefined, references: References): JsonObject {
  if (!isJsonObject(responses)) return {}
  const statuses = Object.keys(responses)
    .filter((status) => /^2(\d\d|XX)$/i.test(status))
    .sort()
  const chosen = statuses.length > 0 ? statuses : ['default'].filter((status) => Object.hasOwn(responses, status))
  try {
    const shapes = chosen.map((status) => contentOf(references.object(responses[status]) ?? {}, references))
    const shown = shapes.find((shape) => shape !== undefined)
    if (shown === undefined) return shapes.length === 0 ? {} : { type: 'null', description: 'the response has no body' }
    const isComplete = shapes.every((shape) => shape !== undefined) || Object.keys(shown).length === 0
    return isComplete ? shown : { anyOf: [shown, { type: 'null' }] }
  } catch {
    return {}
  }
}

/** Undefined for a response without a body. */
function contentOf({ content }: JsonObject, references: References): JsonObject | undefined {
  if (!isJsonObject(content) || Object.keys(content).length === 0) return undefined
  const [type, media] = Object.entries(content).find(([name]) => isJsonType(name)) ?? Object.entries(content)[0] ?? []
  if (type === undefined) return {}
  if (!isJsonType(type)) return type.startsWith('text/') ? { type: 'string' } : {}
  const schema = isJsonObject(media) ? media['schema'] : undefined
  if (schema === undefined) return {}
  // Fewer levels, until the description is short enough.
  for (let levels = maxLevels; levels > 0; levels--) {
    const reader = new ResponseReader(references)
    const shown = reader.read(schema, levels)
    if (reader.parts <= maxParts || levels === 1) return shown
  }
  return {}
}

const shownKeywords = ['type', 'enum', 'const', 'format'] as const

class ResponseReader {
  parts = 0
  readonly #references: References
  readonly #open = new Set<JsonObject>()

  constructor(references: References) {
    this.#references = references
  }

  read(value: JsonValue, levels: number): JsonObject {
    this.parts += 1
    const schema = this.#references.object(value)
    // Stops early: the caller reads it again with fewer levels.
    if (schema === undefined || this.parts > 4 * maxParts || this.#open.has(schema)) return {}
    this.#open.add(schema)
    try {
      return this.#readOpen(schema, levels)
    } finally {
      this.#open.delete(schema)
    }
  }

  #readOpen(schema: JsonObject, levels: number): JsonObject {
    const { description, properties, items, additionalProperties, allOf, anyOf, oneOf, required } = schema
    const shown = Object.fromEntries(
      shownKeywords.flatMap((key): [string, JsonValue][] => (schema[key] === undefined ? [] : [[key, schema[key]]])),
    )
    const text =
      typeof description === 'string'
        ? takeStart(description.trim().split('\n')[0] ?? '', maxDescriptionCharacters)
        : ''
    const plain: JsonObject = { ...shown, ...(text !== '' && { description: text }) }
    const own = schema['nullable'] === true ? withNull(plain) : plain
    if (levels <= 0) return own
    const parts = Array.isArray(allOf) ? allOf.map((part) => this.read(part, levels)) : []
    const alternatives = [anyOf, oneOf].find((each): each is readonly JsonValue[] => Array.isArray(each))
    const members = Object.entries(isJsonObject(properties) ? properties : {})
      .filter(([, part]) => this.#references.object(part)?.['writeOnly'] !== true)
      .map(([name, part]): [string, JsonValue] => [name, this.read(part, levels - 1)])
    const joined = parts.reduce((all, part) => join(all, part), own)
    return join(joined, {
      ...(members.length > 0 && { properties: Object.fromEntries(members) }),
      ...(Array.isArray(required) && members.length > 0 && { required }),
      ...(isJsonObject(items) && { items: this.read(items, levels - 1) }),
      ...(isJsonObject(additionalProperties) && { additionalProperties: this.read(additionalProperties, levels - 1) }),
      ...(alternatives && { anyOf: alternatives.slice(0, 8).map((part) => this.read(part, levels - 1)) }),
    })
  }
}

/** The type of a value that may be null, in OpenAPI 3.0. */
function withNull(schema: JsonObject): JsonObject {
  const { type, enum: choices } = schema
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(choices) && !choices.includes(null) && { enum: [...choices, null] }),
  }
}

/** One schema for two that hold both. */
function join(first: JsonObject, second: JsonObject): JsonObject {
  const [a, b] = [first['properties'], second['properties']]
  const required = [first['required'], second['required']].flatMap((each) => (Array.isArray(each) ? each : []))
  return {
    ...first,
    ...second,
    ...((isJsonObject(a) || isJsonObject(b)) && { properties: { ...(a as JsonObject), ...(b as JsonObject) } }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  }
}
