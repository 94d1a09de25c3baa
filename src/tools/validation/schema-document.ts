import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'

/**
 * JSON Schemas of every dialect (draft 4 to 2020-12, OpenAPI 3.0) in one form: references name members of `$defs`,
 * `nullable` is a type, keywords that are null are left out, and every schema that is named exists.
 */

/** Maximum depth of a schema. */
const maxDepth = 200

/** Keywords whose value is a schema, or an array of schemas. */
const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** Keywords whose members are schemas. */
const schemaMapKeywords: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

/** Keywords that do not constrain the value: next to a reference they need no schema of their own. */
const annotationKeywords: ReadonlySet<string> = new Set([
  '$comment',
  '$schema',
  'default',
  'deprecated',
  'description',
  'example',
  'examples',
  'readOnly',
  'title',
  'writeOnly',
])

const identifierKeywords: ReadonlySet<string> = new Set([
  '$anchor',
  '$defs',
  '$dynamicAnchor',
  '$id',
  '$recursiveAnchor',
  '$schema',
  'definitions',
  'components',
])

/** Keywords whose value may be null. */
const valueKeywords: ReadonlySet<string> = new Set(['const', 'default', 'example', 'examples'])

/** Maps each schema directly within a schema; other members stay. */
export function mapSchemas(schema: JsonObject, map: (part: JsonValue) => JsonValue): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (schemaKeywords.has(key)) return [key, Array.isArray(value) ? value.map(map) : mapPart(value, map)]
    if (!schemaMapKeywords.has(key) || !isJsonObject(value)) return [key, value]
    return [key, fromEntries(Object.entries(value).map(([name, part]) => [name, mapPart(part, map)]))]
  })
  return fromEntries(entries)
}

/** Leaves a part that is not a schema unchanged, such as the list of names in `dependencies`. */
function mapPart(part: JsonValue, map: (part: JsonValue) => JsonValue): JsonValue {
  return isJsonObject(part) || typeof part === 'boolean' ? map(part) : part
}

/** Makes an object in which `__proto__` is a normal member. */
function fromEntries(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries)
}

/**
 * A schema with its references in one form.
 *
 * @throws Error for a reference to another document, or to a missing part
 */
export function normalizeSchema(document: JsonObject): JsonObject {
  const resolver = new Resolver(document)
  const names = new Map<JsonValue, string>()
  const definitions: Record<string, JsonValue> = {}

  const nameOf = (target: JsonObject, pointer: string, base: string, depth: number): string => {
    const known = names.get(target)
    if (known !== undefined) return known
    const preferred = (pointer.split('/').at(-1) ?? '').replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '') || 'Schema'
    let name = preferred
    for (let count = 2; Object.hasOwn(definitions, name); count++) name = `${preferred}${count}`
    names.set(target, name)
    definitions[name] = true
    Object.defineProperty(definitions, name, { value: normalize(target, base, depth) })
    return name
  }

  const normalize = (schema: JsonValue, outerBase: string, depth: number): JsonValue => {
    if (!isJsonObject(schema)) return schema
    if (depth > maxDepth) throw new Error(`it is nested more than ${maxDepth} levels deep`)
    const base = resolver.baseOf(schema, outerBase)
    const kept = fromEntries(Object.entries(schema).filter(([key]) => !identifierKeywords.has(key)))
    const { $ref, $dynamicRef, $recursiveRef, ...rest } = mapSchemas(withRequired(withoutNulls(kept)), (part) =>
      normalize(part, base, depth + 1),
    )
    const plain = withNullable(withBooleans(rest))
    const dynamic = $dynamicRef ?? $recursiveRef
    if ($ref !== undefined && dynamic !== undefined) throw new Error('A schema has two references')
    const reference = $ref ?? dynamic
    if (typeof reference !== 'string') return reference === undefined ? plain : { $ref: reference, ...plain }
    if (dynamic !== undefined) resolver.assertIsStatic(reference)
    const { target, targetBase } = resolver.resolve(reference, base)
    if (typeof target === 'boolean') return target ? plain : { not: {} }
    const named = target === document ? '#' : `#/$defs/${nameOf(target, reference, targetBase, depth + 1)}`
    const isAnnotated = Object.keys(plain).every((key) => annotationKeywords.has(key))
    if (isAnnotated) return { $ref: named, ...plain }
    if (plain['nullable'] === true) {
      const { nullable: _, ...others } = plain
      return { anyOf: [{ $ref: named }, { type: 'null' }], ...others }
    }
    const { allOf, ...others } = plain
    return { ...others, allOf: [{ $ref: named }, ...(Array.isArray(allOf) ? allOf : [])] }
  }

  const root = normalize(document, '', 0) as JsonObject
  return Object.keys(definitions).length === 0 ? root : { ...root, $defs: { ...definitions } }
}

interface Resolved {
  readonly target: JsonObject | boolean
  readonly targetBase: string
}

/** Base address of schemas without their own. */
const rootAddress = 'schema:/root'

/** Finds the targets of references within a document: by pointer, `$anchor` or `$id`. */
class Resolver {
  /** Schemas by the address of their `$id` or `$anchor`. */
  readonly #byAddress = new Map<string, Resolved>()
  /** How many schemas are a target of dynamic references, by anchor; '' of `$recursiveRef`. */
  readonly #dynamicTargets = new Map<string, number>()

  constructor(document: JsonObject) {
    this.#byAddress.set(rootAddress, { target: document, targetBase: '' })
    this.#register(document, '', 0)
  }

  /** The address that references in a schema are relative to. */
  baseOf(schema: JsonObject, outer: string): string {
    const { $id, id } = schema
    const own = [$id, id].find((each) => typeof each === 'string' && !each.startsWith('#'))
    return typeof own === 'string' ? (addressOf(own, outer)?.split('#')[0] ?? outer) : outer
  }

  /** @throws Error for a dynamic reference with several targets: the path of the value decides which one it means */
  assertIsStatic(reference: string): void {
    const [, anchor = ''] = reference.split('#')
    if ((this.#dynamicTargets.get(anchor) ?? 0) > 1)
      throw new Error(`Dynamic reference with several targets is not supported: ${reference.slice(0, 200)}`)
  }

  resolve(reference: string, base: string): Resolved {
    const seen = new Set<string>()
    let [at, from] = [reference, base]
    for (;;) {
      const resolved = this.#lookUp(at, from)
      const next =
        isJsonObject(resolved.target) && Object.keys(resolved.target).length === 1 ? resolved.target['$ref'] : undefined
      if (typeof next !== 'string') return resolved
      if (seen.has(at)) throw new Error(`Reference refers to itself: ${reference.slice(0, 200)}`)
      if (seen.size >= maxDepth)
        throw new Error(`Reference leads over more than ${maxDepth} others: ${reference.slice(0, 200)}`)
      seen.add(at)
      ;[at, from] = [next, resolved.targetBase]
    }
  }

  #lookUp(reference: string, base: string): Resolved {
    const shown = reference.slice(0, 200)
    const [address = '', fragment = ''] = (addressOf(reference, base) ?? '').split('#')
    const start = this.#byAddress.get(address)
    if (start === undefined)
      throw new Error(`External $ref is not supported, only references within the schema: ${shown}`)
    const anchored = this.#byAddress.get(`${address}#${fragment}`)
    if (anchored) return anchored
    if (fragment === '') return start
    let { targetBase } = start
    let target: JsonValue | undefined = start.target
    for (const segment of fragment.split('/').slice(1)) {
      const key = decode(segment).replaceAll('~1', '/').replaceAll('~0', '~')
      target = isJsonObject(target) || Array.isArray(target) ? memberOf(target, key) : undefined
      if (isJsonObject(target)) targetBase = this.baseOf(target, targetBase)
    }
    if (!fragment.startsWith('/') || target === undefined) throw new Error(`Reference not found: ${shown}`)
    if (!isJsonObject(target) && typeof target !== 'boolean')
      throw new Error(`A reference does not name a schema: ${shown}`)
    return { target, targetBase }
  }

  #register(schema: JsonObject, outer: string, depth: number): void {
    if (depth > maxDepth) return
    const base = this.baseOf(schema, outer)
    if (base !== outer) this.#byAddress.set(base, { target: schema, targetBase: base })
    const { $anchor, $dynamicAnchor, $id, id, $recursiveAnchor } = schema
    for (const each of [$recursiveAnchor === true ? '' : undefined, $dynamicAnchor])
      if (typeof each === 'string') this.#dynamicTargets.set(each, (this.#dynamicTargets.get(each) ?? 0) + 1)
    const anchors = [$anchor, $dynamicAnchor].map((each) => (typeof each === 'string' ? `#${each}` : undefined))
    for (const each of [...anchors, $id, id]) {
      if (typeof each !== 'string' || !each.startsWith('#') || each === '#') continue
      const address = addressOf(each, base)
      if (address !== undefined) this.#byAddress.set(address, { target: schema, targetBase: base })
    }
    mapSchemas(schema, (part) => {
      if (isJsonObject(part)) this.#register(part, base, depth + 1)
      return part
    })
    // OpenAPI keeps its schemas in `components`.
    const { components } = schema
    const schemas = isJsonObject(components) ? components['schemas'] : undefined
    if (isJsonObject(schemas)) this.#register({ properties: schemas }, base, depth + 1)
  }
}

function memberOf(value: JsonObject | readonly JsonValue[], key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined
}

/** @returns undefined for an invalid address */
function addressOf(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base || rootAddress).href
  } catch {
    return undefined
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Some generators write null for what a schema does not say. */
function withoutNulls(schema: JsonObject): JsonObject {
  const said = Object.entries(schema).filter(([key, value]) => value !== null || valueKeywords.has(key))
  return fromEntries(
    said.map(([key, value]) => {
      if (!schemaMapKeywords.has(key) || !isJsonObject(value)) return [key, value]
      return [key, fromEntries(Object.entries(value).map(([name, part]) => [name, part ?? {}]))]
    }),
  )
}

/** With a list of the members that are required: draft 3 has `required: true` in the schema of each. */
function withRequired(schema: JsonObject): JsonObject {
  const { required, ...rest } = schema
  const { properties } = rest
  const names = Object.entries(isJsonObject(properties) ? properties : {})
    .filter(([, part]) => isJsonObject(part) && part['required'] === true)
    .map(([name]) => name)
  if (names.length === 0) return typeof required === 'boolean' ? rest : schema
  return { ...rest, required: [...new Set([...(Array.isArray(required) ? required : []), ...names])] }
}

/** Models of Python libraries have texts where they mean booleans. */
function withBooleans(schema: JsonObject): JsonObject {
  const { type, enum: choices } = schema
  if (type !== 'boolean' || !Array.isArray(choices)) return schema
  const named = choices.map(
    (choice) => (typeof choice === 'string' ? booleanNames.get(choice.toLowerCase()) : undefined) ?? choice,
  )
  return { ...schema, enum: named }
}

const booleanNames: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** Replaces OpenAPI 3.0's `nullable` with a type. Next to a reference it stays, and the caller handles it. */
function withNullable(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = schema
  if (typeof nullable !== 'boolean' || '$ref' in schema) return schema
  if (!nullable) return rest
  const { const: constant, ...withoutConstant } = rest
  const { type, enum: choices = constant === undefined ? undefined : [constant], anyOf, oneOf, allOf } = rest
  const withNull: JsonObject =
    Array.isArray(choices) && !choices.includes(null) ? { ...withoutConstant, enum: [...choices, null] } : rest
  if (type !== undefined) return { ...withNull, type: [...new Set([type, 'null'].flat())] }
  if (Array.isArray(anyOf)) return { ...withNull, anyOf: [...anyOf, { type: 'null' }] }
  if (Array.isArray(oneOf)) return { ...withNull, oneOf: [...oneOf, { type: 'null' }] }
  if (!Array.isArray(allOf)) return choices === undefined ? schema : withNull
  const { allOf: _, ...others } = withNull
  return { ...others, anyOf: [{ allOf }, { type: 'null' }] }
}
