import { isJsonObject, type JsonObject, type JsonValue } from '../../../../common/json/json.js'
import { mapSchemas } from '../../../validation/schema-document.js'
import type { Subtypes } from './discriminators.js'
import type { References } from './references.js'

/** Maximum depth of a schema. */
const maxDepth = 100

/** Keywords that cost tokens and constrain nothing, and those that only a whole document has. */
const droppedKeywords: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$defs',
  '$id',
  '$schema',
  'definitions',
  'deprecated',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'readOnly',
  'writeOnly',
  'xml',
])

interface Position {
  readonly depth: number
  /** A part of `allOf` extends a schema: it is the schema itself, and not one of its subtypes. */
  readonly isPart: boolean
  /** Members that are not sent, of the schema that has this part in its `allOf`. */
  readonly unsent: ReadonlySet<string>
}

/**
 * How a schema with a discriminator is meant: `any` of its subtypes, as the `base` that its subtypes extend, or, like all
 * other schemas, as its `own`.
 */
type SchemaForm = 'any' | 'base' | 'own'

const start: Position = { depth: 0, isPart: false, unsent: new Set() }

/**
 * Converts schemas of one request to JSON Schema 2020-12. References stay references, to {@link definitions}: a schema
 * that contains itself ends nothing.
 */
export class RequestSchemas {
  /** The schemas that converted ones refer to, as `#/$defs/NAME`. */
  readonly definitions: Record<string, JsonValue> = {}
  readonly #names = new Map<JsonObject, { readonly [Form in SchemaForm]?: string }>()
  readonly #references: References
  readonly #subtypes: Subtypes
  /** OpenAPI 3.0 has a dialect of its own. */
  readonly #isVersion30: boolean

  constructor(references: References, subtypes: Subtypes, isVersion30: boolean) {
    this.#references = references
    this.#subtypes = subtypes
    this.#isVersion30 = isVersion30
  }

  /** @throws Error for a schema that can't be read */
  convert(schema: JsonValue): JsonObject | boolean {
    return this.#convert(schema, start)
  }

  #convert(schema: JsonValue, position: Position): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema
    if (!isJsonObject(schema)) throw new Error('a schema is not an object')
    const { depth, isPart } = position
    if (depth > maxDepth) throw new Error(`a schema is nested more than ${maxDepth} levels deep`)
    const { $ref, $dynamicRef, ...own } = schema
    if ($dynamicRef !== undefined) throw new Error('a schema has a dynamic reference')
    if (typeof $ref !== 'string') {
      const alternatives = isPart ? [] : this.#subtypes.of(schema)
      return alternatives.length > 0 ? this.#anyOf(alternatives, depth) : this.#convertOwn(schema, position)
    }
    const target = this.#references.resolve($ref)
    if (typeof target === 'boolean') return target
    const reference = { $ref: `#/$defs/${this.#nameOf(target, $ref, depth, isPart)}` }
    // In 3.0 the neighbours of a reference mean nothing; a description does no harm.
    const { description } = own
    const kept = this.#isVersion30 ? (typeof description === 'string' ? { description } : {}) : own
    return { ...(this.#convertOwn(kept, position) as object), ...reference }
  }

  #nameOf(target: JsonObject, reference: string, depth: number, isPart: boolean): string {
    const alternatives = isPart ? [] : this.#subtypes.of(target)
    const isBase = isPart && isJsonObject(target['discriminator'])
    const form: SchemaForm = isBase ? 'base' : alternatives.length > 0 ? 'any' : 'own'
    const known = this.#names.get(target)
    const found = known?.[form]
    if (found !== undefined) return found
    const last = (reference.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9_]+/g, '_').replaceAll(/^_+|_+$/g, '')
    const preferred = `${last || 'Schema'}${isBase ? 'Base' : ''}`
    let name = preferred
    for (let count = 2; Object.hasOwn(this.definitions, name); count++) name = `${preferred}${count}`
    this.#names.set(target, { ...known, [form]: name })
    this.definitions[name] = true
    this.definitions[name] =
      form === 'any'
        ? this.#anyOf(alternatives, depth + 1)
        : this.#convertOwn(isBase ? withoutAlternatives(target) : target, { ...start, depth: depth + 1, isPart })
    return name
  }

  #anyOf(references: readonly string[], depth: number): JsonObject {
    return { anyOf: references.map(($ref) => this.#convert({ $ref }, { ...start, depth: depth + 1 })) }
  }

  #convertOwn(schema: JsonObject, { depth, unsent: outer }: Position): JsonObject {
    const kept = Object.entries(schema).filter(([key]) => !droppedKeywords.has(key) && !key.startsWith('x-'))
    const { allOf, required, properties, ...plain } = Object.fromEntries(kept)
    const unsent = new Set([...outer, ...this.#unsentIn(schema, new Set())])
    const inner: Position = { ...start, depth: depth + 1 }
    const map = (part: JsonValue) => this.#convert(part, inner)
    const sent = isJsonObject(properties) ? Object.entries(properties).filter(([name]) => !unsent.has(name)) : []
    const needed = Array.isArray(required) ? required.filter((name) => !unsent.has(String(name))) : []
    return {
      ...mapSchemas(this.#isVersion30 ? withBounds(plain) : plain, map),
      ...(isJsonObject(properties) && {
        // `__proto__` is a member like any other.
        properties: Object.fromEntries(sent.map(([name, part]): [string, JsonValue] => [name, map(part)])),
      }),
      ...(needed.length > 0 && { required: needed }),
      ...(Array.isArray(allOf) && {
        allOf: allOf.map((part) => this.#convert(part, { depth: depth + 1, isPart: true, unsent })),
      }),
    }
  }

  /** Names of the members that only responses have, over all parts of `allOf`. */
  #unsentIn(schema: JsonObject, visited: Set<JsonObject>): readonly string[] {
    if (visited.has(schema)) return []
    visited.add(schema)
    const { properties, allOf } = schema
    const own = Object.entries(isJsonObject(properties) ? properties : {}).filter(
      ([, part]) => this.#read(part)?.['readOnly'] === true,
    )
    const parts = Array.isArray(allOf) ? allOf : []
    const others = parts.flatMap((part) => {
      const target = this.#read(part)
      return target === undefined ? [] : this.#unsentIn(target, visited)
    })
    return [...own.map(([name]) => name), ...others]
  }

  /** The schema behind a reference; a mark next to the reference counts, too. */
  #read(part: JsonValue): JsonObject | undefined {
    if (!isJsonObject(part) || part['readOnly'] === true || typeof part['$ref'] !== 'string')
      return isJsonObject(part) ? part : undefined
    return this.#references.object(part)
  }
}

function withoutAlternatives({ oneOf: _, anyOf: __, ...rest }: JsonObject): JsonObject {
  return rest
}

/** In 3.0, `exclusiveMinimum` is a boolean that says how `minimum` is meant. A bound may be 0. */
function withBounds(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema
  return {
    ...withBound(
      withBound(rest, 'minimum', 'exclusiveMinimum', exclusiveMinimum),
      'maximum',
      'exclusiveMaximum',
      exclusiveMaximum,
    ),
  }
}

function withBound(schema: JsonObject, bound: string, exclusive: string, value: JsonValue | undefined): JsonObject {
  if (typeof value === 'number') return { ...schema, [exclusive]: value }
  const { [bound]: limit, ...rest } = schema
  return value === true && typeof limit === 'number' ? { ...rest, [exclusive]: limit } : schema
}
