import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { inheritedNamesOf } from './inherited-members.js'
import { mapSchemas, normalizeSchema } from './schema-document.js'

/**
 * A zod schema as JSON Schema for the model: the side that a caller writes (`input`) or reads (`output`), without
 * redundant keywords, which would only cost tokens.
 *
 * @throws Error when JSON Schema can't represent it (a Date, a transform without `.pipe`)
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): JsonObject {
  const full = z.toJSONSchema(schema, {
    io: side,
    override: ({ jsonSchema }) => {
      // z.int() adds the bounds of safe integers. A pattern next to a format repeats the format in a hundred
      // characters.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      // Holds for every output that zod has parsed, and does not help the reader.
      if (side === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  const { $schema: _, ...plain } = JSON.parse(JSON.stringify(full)) as JsonObject
  return inlineRootReference(plain)
}

/** Replaces a root `{ $ref: '#/$defs/X', $defs }` with X: the Messages API requires `type: 'object'` at the root. */
function inlineRootReference(schema: JsonObject): JsonObject {
  const { $ref: reference, $defs: definitions, ...rest } = schema
  if (typeof reference !== 'string' || definitions === undefined) return schema
  const target = (definitions as JsonObject)[reference.replace('#/$defs/', '')]
  if (typeof target !== 'object' || target === null) return schema
  const { id: _, ...root } = target as JsonObject
  const used = JSON.stringify(definitions).includes('"$ref"')
  return { title: reference.replace('#/$defs/', ''), ...root, ...rest, ...(used ? { $defs: definitions } : {}) }
}

/** What a check takes from a JSON Schema besides its assertions: in a foreign schema these are documentation. */
interface Annotations {
  /** Missing members get their defaults. Otherwise whoever takes the value has its own. */
  readonly appliesDefaults?: boolean
  /** Texts must have their format, as zod defines it. It takes no `2026-01-31T10:00:00`, and no `root@localhost`. */
  readonly checksFormats?: boolean
}

/**
 * A JSON Schema of any dialect as zod.
 *
 * @throws Error for a schema that zod can't check
 */
export function fromJsonSchema(schema: JsonObject, annotations: Annotations = {}): z.ZodType {
  return fromNormalizedSchema(normalizeSchema(schema), annotations)
}

/**
 * As {@link fromJsonSchema}, for a schema that `normalizeSchema` returned, or a part of one with its `$defs`.
 *
 * @throws Error for a schema that zod can't check
 */
export function fromNormalizedSchema(normalized: JsonObject, annotations: Annotations = {}): z.ZodType {
  try {
    const dialect = toZodDialect(annotations)(normalized) as Parameters<typeof z.fromJSONSchema>[0]
    // Without a registry of its own, zod would keep the annotations of all schemas in one of the process.
    const converted = z.fromJSONSchema(dialect, { registry: z.registry() })
    refuseProto(converted)
    return converted
  } catch (cause) {
    // Such as a list in the place of a schema: the text would be about the code that reads it.
    if (cause instanceof TypeError) throw new Error('a keyword has a value of a wrong type', { cause })
    throw cause
  }
}

/** @throws Error for a schema with a member `__proto__`, which zod leaves out of every value */
export function refuseProto(schema: z.core.$ZodType): void {
  if (inheritedNamesOf(schema).has('__proto__')) throw new Error('no member can have the name __proto__')
}

/** Says in keywords that zod checks what others say, and leaves out what zod takes too strictly. */
function toZodDialect({ appliesDefaults, checksFormats }: Annotations): (schema: JsonValue) => JsonValue {
  const convert = (schema: JsonValue): JsonValue => {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
    const {
      default: fallback,
      format: documentedFormat,
      pattern,
      ...mapped
    } = withTypes(withoutStructuredChoices(mapSchemas(schema as JsonObject, convert)))
    const format = checksFormats ? documentedFormat : undefined
    const kept = {
      ...mapped,
      ...(appliesDefaults && fallback !== undefined && { default: fallback }),
      // zod compiles patterns without the flag u, which classes of Unicode need.
      ...(typeof pattern === 'string' && !/\\[pPu]\{/.test(pattern) && { pattern }),
      // A relative reference is not a URL.
      ...(format !== undefined && format !== 'uuid' && format !== 'uri-reference' && { format }),
    }
    const { dependencies, dependentRequired, dependentSchemas, ...rest } = kept as Record<string, JsonValue>
    /** A condition on values of one type. The schema may allow other types, such as null. */
    const onType = (type: string, options: readonly JsonValue[]): JsonObject => {
      const others = [rest['type'] ?? []].flat().filter((each) => each !== type)
      return { anyOf: [...options, ...others.map((each) => ({ type: each }))] }
    }
    const conditions = [
      ...(format === 'uuid' ? [onType('string', [{ type: 'string', pattern: anyUuid }])] : []),
      ...[dependencies, dependentRequired, dependentSchemas]
        .flatMap(optionsOfDependencies)
        .map((options) => onType('object', options)),
    ]
    if (conditions.length === 0) return rest
    // Each part becomes its own schema, because zod ignores the neighbours of some keywords.
    const { $defs, ...own } = rest
    return { allOf: [own, ...conditions], ...defined({ $defs }) }
  }
  return convert
}

/** Keywords by the type that they apply to: zod ignores those of a schema without a type. */
const keywordTypes: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

/** Adds the types that the keywords of a schema apply to, and a schema for each required member. */
function withTypes(schema: JsonObject): JsonObject {
  const isTyped = ['type', 'enum', 'const', '$ref'].some((key) => key in schema)
  const about = isTyped ? undefined : keywordTypes.find(([, keywords]) => keywords.some((key) => key in schema))?.[0]
  const implied = about !== undefined && !allowsOthers(schema, about) ? about : undefined
  // zod checks the size of a list only when the schema has `items`.
  const isSized = ['minItems', 'maxItems'].some((key) => key in schema)
  const hasItems = ['items', 'prefixItems'].some((key) => key in schema)
  const { required, properties = {}, additionalProperties } = schema
  const known = properties as JsonObject
  const missing = Array.isArray(required) ? required.filter((name) => !Object.hasOwn(known, String(name))) : []
  const value = typeof additionalProperties === 'object' ? additionalProperties : {}
  const added = missing.map((name): [string, JsonValue] => [String(name), value])
  return {
    ...schema,
    ...defined({ type: implied }),
    ...(isSized && !hasItems && { items: {} }),
    ...(added.length > 0 && { properties: { ...known, ...Object.fromEntries(added) } }),
  }
}

/** Replaces objects and lists in `enum` and `const` with schemas, because zod compares such choices by identity. */
function withoutStructuredChoices(schema: JsonObject): JsonObject {
  const { enum: choices, const: constant, ...rest } = schema
  const allowed = Array.isArray(choices) ? choices : constant === undefined ? [] : [constant]
  if (!allowed.some((choice) => typeof choice === 'object' && choice !== null)) return schema
  const { $defs, ...own } = rest
  return { allOf: [own, { anyOf: allowed.map(schemaOfValue) }], ...defined({ $defs }) }
}

/** A schema that accepts only this value. */
function schemaOfValue(value: JsonValue): JsonObject {
  if (Array.isArray(value)) {
    const items = value.length > 0 ? { prefixItems: value.map(schemaOfValue) } : { items: {} }
    return { type: 'array', minItems: value.length, maxItems: value.length, ...items }
  }
  if (!isJsonObject(value)) return { const: value }
  const members = Object.entries(value).map(([name, member]): [string, JsonValue] => [name, schemaOfValue(member)])
  // zod does not check `additionalProperties` in a part of `allOf`.
  const size = { required: Object.keys(value), maxProperties: members.length }
  return { type: 'object', properties: Object.fromEntries(members), ...size }
}

/** Whether an alternative of a schema has another type. */
function allowsOthers({ anyOf, oneOf }: JsonObject, type: string): boolean {
  const alternatives = [anyOf ?? [], oneOf ?? []].flat().filter(isJsonObject)
  const types = alternatives.flatMap((each) => each['type'] ?? [])
  return types.some((each) => each !== type && !(type === 'number' && each === 'integer'))
}

/** A UUID of any version, or of none. zod accepts only those of RFC 9562. */
const anyUuid = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'

/** For each dependency: either the member is missing, or its condition holds. */
function optionsOfDependencies(dependencies: JsonValue | undefined): readonly (readonly JsonValue[])[] {
  if (typeof dependencies !== 'object' || dependencies === null) return []
  return Object.entries(dependencies as JsonObject).map(([name, needed]) => {
    const required = Array.isArray(needed) ? needed.map(String) : []
    const present = Object.fromEntries(required.map((each): [string, JsonValue] => [each, {}]))
    const needs = Array.isArray(needed) ? { type: 'object', properties: present, required } : needed
    return [{ type: 'object', properties: { [name]: { not: {} } } }, needs]
  })
}
