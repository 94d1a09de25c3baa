import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { constraintsOf } from '../shared/constraints.js'
import type { Declarations } from '../shared/declarations.js'
import { nameOfReference, ownNameOf, requiredOf, singular, variantName } from '../shared/names.js'
import { identityOf, resolveReference, type Schema } from '../shared/schema-document.js'
import { commentText, pascalCase } from '../shared/texts.js'
import { escapeComment, javascriptLiteral, memberKey } from './literals.js'

/** Renders the TypeScript type of a document. The types of its parts get their names from `name`. */
interface TypeRenderer {
  root(name: string): string
  /** The members of an object, as a type literal. A type that refers to itself is declared. */
  members(name: string): string
}

/** Longest type literal on one line. */
const maxLineCharacters = 80

/** Deeper types are `unknown`. */
const maxDepth = 64

/** Maximum number of values of an enumeration. */
const maxLiterals = 200

/**
 * Types for one JSON Schema document. An object with a name of its own and the target of a `$ref` are declared in
 * `declarations`, and other objects are type literals. Equal objects share a declaration; a recursive type refers to its
 * own declaration.
 */
export function typesOf(
  document: JsonObject,
  declarations: Declarations,
  { hasComments = true }: { readonly hasComments?: boolean } = {},
): TypeRenderer {
  /** References that are being resolved, without an object or array in between: such a type would be itself. */
  let direct: readonly string[] = []
  let depth = 0

  const type = (schema: Schema, name: string): string => {
    if (depth >= maxDepth) return 'unknown'
    depth += 1
    try {
      return typeOf(schema, name)
    } finally {
      depth -= 1
    }
  }

  const typeOf = (schema: Schema, name: string): string => {
    if (schema === undefined || schema === true) return 'unknown'
    if (!isJsonObject(schema)) return 'never'
    const { $ref: reference, const: constant, enum: choices, not, type: kind } = schema
    if (typeof reference === 'string') return referenceType(reference, name)
    if (constant !== undefined) return literalUnion([constant])
    if (Array.isArray(choices)) return literalUnion(choices)
    if (isJsonObject(not) && Object.keys(not).length === 0) return 'never'
    if (Array.isArray(kind)) return unionOf(kind.map((one: JsonValue) => type({ ...schema, type: one }, name)))
    const { anyOf, oneOf, allOf } = schema
    const options = anyOf ?? oneOf
    // An object whose parts name its members is not a record.
    const isOpen = kind === 'object' && !hasMembers(schema) && (Array.isArray(options) || Array.isArray(allOf))
    const own = isOpen ? 'unknown' : ownType(schema, name)
    const union = Array.isArray(options)
      ? unionOf(options.map((one: JsonValue) => type(one, `${name}${variantName(one)}`)))
      : 'unknown'
    const parts = Array.isArray(allOf) ? allOf.map((one: JsonValue) => type(one, name)) : []
    return intersectionOf([own, union, ...parts])
  }

  const ownType = (schema: JsonObject, name: string): string => {
    const { type: kind, properties } = schema
    if (kind === 'array') return arrayType(schema, name)
    if (kind === 'object' || (kind === undefined && isJsonObject(properties))) return objectType(schema, name)
    return (typeof kind === 'string' && scalarTypes.get(kind)) || 'unknown'
  }

  const referenceType = (reference: string, name: string): string => {
    if (direct.includes(reference)) return 'unknown'
    const target = resolveReference(document, reference)
    const own = nameOfReference(reference, name)
    const before = direct
    direct = [...direct, reference]
    try {
      if (!isJsonObject(target) || isSimple(target)) return type(target, own)
      return declare(target, ownNameOf(target) ?? own)
    } finally {
      direct = before
    }
  }

  /** Declares the type of a schema, and returns its name. */
  const declare = (schema: JsonObject, name: string): string =>
    declarations.define(name, identityOf(document, schema), (declared) =>
      isPlainObject(schema)
        ? `interface ${declared} ${literal(schema, declared)}`
        : `type ${declared} = ${typeOf(withoutName(schema), declared)}`,
    )

  /** Renders a part of an object or array: in it, a type may refer to itself. */
  const within = (schema: Schema, name: string): string => {
    const before = direct
    direct = []
    try {
      return type(schema, name)
    } finally {
      direct = before
    }
  }

  const arrayType = ({ prefixItems, items }: JsonObject, name: string): string => {
    if (!Array.isArray(prefixItems)) return arrayOf(within(items, singular(name)))
    const parts = prefixItems.map((item: JsonValue, index: number) => within(item, `${name}${index + 1}`))
    if (isJsonObject(items)) parts.push(`...${arrayOf(within(items, singular(name)))}`)
    return `[${parts.join(', ')}]`
  }

  const objectType = (schema: JsonObject, name: string): string => {
    const { additionalProperties, propertyNames, patternProperties } = schema
    if (hasMembers(schema)) {
      const own = ownNameOf(schema)
      return own !== undefined && isPlainObject(schema) ? declare(schema, own) : literal(schema, name)
    }
    const [pattern] = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    if (additionalProperties === false && pattern === undefined) return '{}'
    const values = within(isJsonObject(additionalProperties) ? additionalProperties : pattern, `${name}Value`)
    const keys = isJsonObject(propertyNames) ? propertyNames['enum'] : undefined
    return Array.isArray(keys) ? `{ [key in ${literalUnion(keys)}]?: ${values} }` : `{ [key: string]: ${values} }`
  }

  const literal = (schema: JsonObject, name: string): string => {
    const { properties } = schema
    const required = requiredOf(schema)
    const members = Object.entries(isJsonObject(properties) ? properties : {}).map(([key, member]) => ({
      comment: hasComments ? commentOf(member) : '',
      text: `${memberKey(key)}${required.includes(key) ? '' : '?'}: ${within(member, `${name}${pascalCase(key)}`)}`,
    }))
    if (members.length === 0) return '{}'
    const line = `{ ${members.map(({ text }) => text).join('; ')} }`
    const isShort = line.length <= maxLineCharacters && !line.includes('\n')
    if (isShort && members.every(({ comment }) => comment === '')) return line
    const lines = members.flatMap(({ comment, text }) => (comment === '' ? [text] : [`/** ${comment} */`, text]))
    return ['{', ...lines.flatMap((each) => each.split('\n')).map((each) => `  ${each}`), '}'].join('\n')
  }

  return {
    root: (name) => (refersToItself(document) ? type({ $ref: '#' }, name) : type(document, name)),
    members: (name) => (refersToItself(document) ? type({ $ref: '#' }, name) : literal(document, name)),
  }
}

function refersToItself(document: JsonObject): boolean {
  return JSON.stringify(document).includes('"$ref":"#"')
}

function hasMembers({ properties }: JsonObject): boolean {
  return isJsonObject(properties) && Object.keys(properties).length > 0
}

/** Whether a schema is an object with members and nothing besides: an interface. */
function isPlainObject(schema: JsonObject): boolean {
  const { type } = schema
  const hasOther = ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf', 'not'].some((key) => key in schema)
  const isObject = type === undefined || type === 'object'
  return !hasOther && isObject && hasMembers(schema)
}

/** Whether the type is as short as a name for it: a scalar, a constant, or another reference. */
function isSimple(schema: JsonObject): boolean {
  const { type, enum: choices } = schema
  const hasParts = ['anyOf', 'oneOf', 'allOf', 'properties'].some((key) => key in schema)
  if ('$ref' in schema || 'const' in schema) return true
  if (Array.isArray(choices)) return choices.length <= 3
  return !hasParts && (type === undefined || (typeof type === 'string' && scalarTypes.has(type)))
}

/** The declaration has the name already. */
function withoutName({ title: _, id: __, ...schema }: JsonObject): JsonObject {
  return schema
}

const scalarTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
])

/** The union `A | B`, without duplicates. */
function unionOf(options: readonly string[]): string {
  const parts = [...new Set(options.filter((part) => part !== 'never'))]
  if (parts.includes('unknown')) return 'unknown'
  return parts.join(' | ') || 'never'
}

/** The intersection `A & B`, without duplicates. */
function intersectionOf(types: readonly string[]): string {
  const parts = [...new Set(types.filter((part) => part !== 'unknown'))]
  if (parts.length > 1) return parts.map((part) => (hasOperator(part, '|') ? `(${part})` : part)).join(' & ')
  return parts[0] ?? 'unknown'
}

function arrayOf(item: string): string {
  return hasOperator(item, '|&') ? `(${item})[]` : `${item}[]`
}

/** Whether a type has one of these operators outside of brackets, texts and comments. */
function hasOperator(type: string, operators: string): boolean {
  let level = 0
  for (const part of type.match(/"(?:[^"\\]|\\.)*"|\/\*[^]*?\*\/|[^"/]|\//g) ?? []) {
    if ('([{'.includes(part)) level += 1
    else if (')]}'.includes(part)) level -= 1
    else if (level === 0 && operators.includes(part)) return true
  }
  return false
}

function literalUnion(values: readonly JsonValue[]): string {
  const isScalar = (one: JsonValue) => one === null || typeof one !== 'object'
  if (!values.every(isScalar)) return 'unknown'
  const shown = values.slice(0, maxLiterals).map(javascriptLiteral)
  const more = values.length > shown.length ? unionTypes(values.slice(maxLiterals)) : []
  return unionOf([...shown, ...more])
}

/** The types of values that are too many to list. */
function unionTypes(values: readonly JsonValue[]): readonly string[] {
  return [...new Set(values.map((one) => (one === null ? 'null' : typeof one)))]
}

/** The comment of a member, on one line: its description, its constraints, and its default. */
function commentOf(member: Schema): string {
  if (!isJsonObject(member)) return ''
  const { description, default: fallback, type } = member
  const parts = [
    typeof description === 'string' ? commentText(description) : '',
    type === 'integer' ? 'integer' : '',
    constraintsOf(member),
    fallback === undefined ? '' : `default ${javascriptLiteral(fallback)}`,
  ]
  return escapeComment(parts.filter((part) => part !== '').join('; '))
}
