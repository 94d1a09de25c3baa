import { z } from 'zod'
import { defined } from '../../common/defined.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { withoutInherited } from '../validation/inherited-members.js'
import { fromNormalizedSchema } from '../validation/json-schema.js'
import { normalizeSchema } from '../validation/schema-document.js'

/** The arguments of a tool whose input is a JSON Schema. */
interface JsonInput {
  readonly schema: z.ZodObject
  /** The schema for the model: an object without alternatives, which the APIs of models refuse at the root. */
  readonly json: JsonObject
}

/**
 * Reads the schema of a tool's input. The arguments of a call have names, so the root must be an object, and the prompt
 * lists its members. Other constraints (alternatives, patterns of names, the number of members) are checked in
 * addition. A schema without a rule for additional properties refuses them.
 *
 * @throws NotAnObjectError, Error for a schema that can't be checked
 */
export function readJsonInput(document: JsonObject): JsonInput {
  return readNormalizedInput(normalizeSchema(document))
}

/** As {@link readJsonInput}, for a schema that `normalizeSchema` returned. */
export function readNormalizedInput(normalized: JsonObject): JsonInput {
  const root = rootOf(normalized)
  const json = describeArguments(root)
  const whole = fromNormalizedSchema(hasAlternatives(root) ? { ...root, type: 'object' } : json)
  if (isObjectSchema(whole)) return { schema: whole, json }
  const { properties, patternProperties, additionalProperties } = json
  const shape = Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, z.unknown().optional()]))
  const isClosed = additionalProperties === false && patternProperties === undefined
  const outer = isClosed ? z.strictObject(shape) : z.looseObject(shape)
  const schema = outer.check((payload) => {
    const { value, restore } = withoutInherited(whole, payload.value)
    const { error } = whole.safeParse(value)
    restore()
    for (const { message, path } of error?.issues ?? [])
      payload.issues.push({ code: 'custom', message, path, input: payload.value })
  })
  return { schema, json }
}

/**
 * What the model reads of a schema of arguments.
 *
 * @throws NotAnObjectError, Error for a schema that can't be read
 */
export function describeJsonInput(document: JsonObject): JsonObject {
  return describeNormalizedInput(normalizeSchema(document))
}

/** As {@link describeJsonInput}, for a schema that `normalizeSchema` returned. */
export function describeNormalizedInput(normalized: JsonObject): JsonObject {
  return describeArguments(rootOf(normalized))
}

/** Says what the root of a schema of arguments is in the place of an object. */
export class NotAnObjectError extends Error {}

function rootOf(normalized: JsonObject): JsonObject {
  const { $schema: _, ...root } = inlineReference(normalized)
  assertIsObject(root)
  return root
}

function isObjectSchema(schema: z.ZodType): schema is z.ZodObject {
  return (schema.def as { readonly type: string }).type === 'object'
}

/** Replaces a root of the form `{ $ref: '#/$defs/X' }` with X. */
function inlineReference({ $ref: reference, ...rest }: JsonObject): JsonObject {
  if (typeof reference !== 'string') return rest
  const { $defs: definitions } = rest
  const target = resolve(definitions, reference)
  if (target === undefined) throw new NotAnObjectError('it refers to itself alone')
  return { ...target, ...rest }
}

function resolve(definitions: JsonValue | undefined, reference: string): JsonObject | undefined {
  const target = isJsonObject(definitions) ? definitions[reference.replace('#/$defs/', '')] : undefined
  return isJsonObject(target) ? target : undefined
}

function assertIsObject({ type, enum: choices, const: constant, not }: JsonObject): void {
  const types: readonly unknown[] = [type].flat()
  if (type !== undefined && !types.includes('object')) {
    throw new NotAnObjectError(`its type is ${types.map(String).join(' or ')}; it must be object`)
  }
  if (choices !== undefined || constant !== undefined) {
    throw new NotAnObjectError('it lists whole values (enum, const); it must be an object with properties')
  }
  if (isJsonObject(not) && Object.keys(not).length === 0) throw new NotAnObjectError('it accepts nothing')
}

const alternatives = ['allOf', 'anyOf', 'oneOf'] as const

function hasAlternatives(schema: JsonObject): boolean {
  return alternatives.some((key) => Array.isArray(schema[key]))
}

interface Members {
  /** The schemas of each member, without duplicates. */
  readonly properties: ReadonlyMap<string, ReadonlySet<JsonValue>>
  readonly required: readonly string[]
}

const noMembers: Members = { properties: new Map(), required: [] }

function describeArguments(root: JsonObject): JsonObject {
  const { type: _, default: _default, allOf: _all, anyOf: _any, oneOf: _one, $defs, ...own } = root
  const { properties, required } = membersOf(root, $defs, new Map())
  const shown = [...properties].map(([name, parts]): [string, JsonValue] => {
    const distinct = [...new Map([...parts].map((part) => [JSON.stringify(part), part])).values()]
    return [name, distinct.length === 1 ? (distinct[0] ?? {}) : { anyOf: distinct }]
  })
  // A required name without a schema may have any value.
  const unknown = required.filter((name) => !properties.has(name)).map((name): [string, JsonValue] => [name, {}])
  const { additionalProperties = false } = own
  return {
    ...own,
    type: 'object',
    properties: Object.fromEntries([...shown, ...unknown]),
    ...(required.length > 0 && { required }),
    additionalProperties,
    ...defined({ $defs }),
  }
}

/**
 * The members that an object may have, over all alternatives, and the members that it has in every one.
 *
 * @param known members of references: each is read once, because a few may stand for very many parts
 */
function membersOf(schema: JsonObject, definitions: JsonValue | undefined, known: Map<string, Members>): Members {
  const { properties: own, required: needed, $ref: reference } = schema
  const properties = new Map<string, Set<JsonValue>>()
  const required = new Set(Array.isArray(needed) ? needed.filter((name) => typeof name === 'string') : [])
  const add = (name: string, parts: Iterable<JsonValue>) =>
    properties.set(name, new Set([...(properties.get(name) ?? []), ...parts]))
  for (const [name, part] of Object.entries(isJsonObject(own) ? own : {})) add(name, [part])
  const partsOf = (key: string): Members[] => {
    const parts = schema[key]
    return (Array.isArray(parts) ? parts : [])
      .filter((part: JsonValue) => isJsonObject(part) && mayBeObject(part))
      .map((part: JsonValue) => membersOf(part as JsonObject, definitions, known))
  }
  const all = partsOf('allOf')
  if (typeof reference === 'string') {
    // Undefined while the reference is being read: a recursive reference adds nothing.
    const target = known.has(reference) ? undefined : (resolve(definitions, reference) ?? {})
    if (target) known.set(reference, noMembers)
    if (target) known.set(reference, membersOf(target, definitions, known))
    all.push(known.get(reference) ?? noMembers)
  }
  const options = ['anyOf', 'oneOf'].map(partsOf)
  for (const part of [...all, ...options.flat()]) for (const [name, parts] of part.properties) add(name, parts)
  for (const part of all) for (const name of part.required) required.add(name)
  for (const [first, ...others] of options)
    for (const name of first?.required ?? [])
      if (others.every((option) => option.required.includes(name))) required.add(name)
  return { properties, required: [...required] }
}

function mayBeObject({ type }: JsonObject): boolean {
  return type === undefined || [type].flat().includes('object')
}
