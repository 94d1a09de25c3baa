import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { constraintsOf } from '../shared/constraints.js'
import { nameOfReference, ownNameOf, requiredOf, singular, variantName } from '../shared/names.js'
import { identityOf, resolveReference, type Schema } from '../shared/schema-document.js'
import { commentText, pascalCase } from '../shared/texts.js'
import { renderTypedDict, type PythonClasses } from './classes.js'
import { pythonLiteral } from './literals.js'

/** Renders the Python annotation of a schema. `name` is used for a class that has no name of its own. */
type Annotate = (schema: Schema, name: string) => string

/**
 * Annotations for one JSON Schema document. Objects become TypedDict classes, which are added to `classes`. Equal
 * objects share a class; a recursive object refers to its own class.
 */
export function createAnnotator(document: JsonObject, classes: PythonClasses): Annotate {
  const activeReferences = new Set<string>()

  const annotate: Annotate = (schema, name) => {
    if (schema === undefined || schema === true) return 'Any'
    if (!isJsonObject(schema)) return 'Never'
    const { $ref: reference, const: constant, enum: choices, anyOf, oneOf, allOf, not, type } = schema
    if (typeof reference === 'string') return annotateReference(reference, name)
    if (constant !== undefined) return literalType([constant])
    if (Array.isArray(choices)) return literalType(choices)
    const options = anyOf ?? oneOf
    if (Array.isArray(options)) return annotateUnion(options, name)
    if (Array.isArray(allOf)) return annotateIntersection(allOf, schema, name)
    if (isJsonObject(not) && Object.keys(not).length === 0) return 'Never'
    if (Array.isArray(type))
      return annotateUnion(
        type.map((one: JsonValue) => ({ ...schema, type: one })),
        name,
      )
    if (type === 'array') return annotateArray(schema, name)
    if (type === 'object' || isJsonObject(schema['properties'])) return annotateObject(schema, name)
    return (typeof type === 'string' && scalarTypes.get(type)) || 'Any'
  }

  const annotateReference: Annotate = (reference, name) => {
    if (typeof reference !== 'string') return 'Any'
    const target = resolveReference(document, reference)
    const own = nameOfReference(reference, name)
    // The class of an object ends the recursion. Other recursive schemas, such as JSON itself and maps of maps, would
    // recurse endlessly.
    if (activeReferences.has(reference)) return isClass(target) ? annotate(target, own) : 'Any'
    activeReferences.add(reference)
    const annotation = annotate(target, own)
    activeReferences.delete(reference)
    return annotation
  }

  const annotateUnion = (options: readonly JsonValue[], name: string): string =>
    unionOf(options.map((option) => annotate(option, `${name}${variantName(option)}`)))

  /** Python has no intersection types: objects are merged, anything else is `Any`. */
  const annotateIntersection = (parts: readonly JsonValue[], schema: JsonObject, name: string): string => {
    const { allOf: _, ...own } = schema
    const [only] = parts
    if (parts.length === 1 && own['properties'] === undefined) return annotate(only, name)
    const all = [own, ...parts].map((part) => {
      const reference = isJsonObject(part) ? part['$ref'] : undefined
      return typeof reference === 'string' ? resolveReference(document, reference) : part
    })
    const objects = all.filter(isJsonObject).filter((part) => isJsonObject(part['properties']))
    if (objects.length < parts.length) return 'Any'
    const properties = Object.fromEntries(objects.flatMap((part) => Object.entries(part['properties'] ?? {})))
    return annotateObject({ type: 'object', properties, required: objects.flatMap(requiredOf) }, name)
  }

  const annotateArray = ({ prefixItems, items }: JsonObject, name: string): string => {
    if (!Array.isArray(prefixItems)) return `list[${annotate(items, singular(name))}]`
    const parts = prefixItems.map((item: JsonValue, index: number) => annotate(item, `${name}${index + 1}`))
    if (isJsonObject(items)) parts.push(`*tuple[${annotate(items, singular(name))}, ...]`)
    return `tuple[${parts.join(', ') || '()'}]`
  }

  const annotateObject = (schema: JsonObject, name: string): string => {
    const { properties, additionalProperties, propertyNames, patternProperties } = schema
    if (isJsonObject(properties) && Object.keys(properties).length > 0) {
      return classes.define(ownNameOf(schema) ?? name, identityOf(document, schema), (className) => {
        const fields = Object.entries(properties).map(([key, field]) => ({
          key,
          annotation: annotate(field, `${className}${pascalCase(key)}`),
          required: requiredOf(schema).includes(key),
          comment: describeField(field),
        }))
        return renderTypedDict(className, fields)
      })
    }
    const [pattern] = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    const values = isJsonObject(additionalProperties) ? additionalProperties : pattern
    const keys =
      isJsonObject(propertyNames) && Array.isArray(propertyNames['enum']) ? literalType(propertyNames['enum']) : 'str'
    return `dict[${keys}, ${annotate(values, `${name}Value`)}]`
  }

  return annotate
}

/** Whether the annotation of a schema is a class. */
function isClass(schema: Schema): boolean {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return false
  const { properties } = schema
  const hasOther = ['const', 'enum', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
  return !hasOther && isJsonObject(properties) && Object.keys(properties).length > 0
}

const scalarTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'str'],
  ['integer', 'int'],
  ['number', 'float'],
  ['boolean', 'bool'],
  ['null', 'None'],
])

/** The union `A | B`, without duplicates, and with all literals in one `Literal`. */
function unionOf(options: readonly string[]): string {
  const parts = [...new Set(options.filter((part) => part !== 'Never'))]
  if (parts.includes('Any')) return 'Any'
  const isLiteral = (part: string) => part.startsWith('Literal[') && !part.includes('] | ')
  const literals = parts.filter(isLiteral).map((part) => part.slice('Literal['.length, -1))
  const merged = literals.length === 0 ? [] : [`Literal[${literals.join(', ')}]`]
  const rest = parts.filter((part) => !isLiteral(part))
  // A class that is still being defined is only a name here, so the union is always one expression.
  return [...merged, ...rest].join(' | ') || 'Never'
}

/** Python's Literal does not support floats. */
function literalType(values: readonly JsonValue[]): string {
  const fits = values.every(
    (one) => one === null || typeof one === 'string' || typeof one === 'boolean' || Number.isInteger(one),
  )
  if (!fits) return values.every((one) => typeof one === 'number') ? 'float' : 'Any'
  if (values.length === 0) return 'Never'
  return values.every((one) => one === null) ? 'None' : `Literal[${values.map(pythonLiteral).join(', ')}]`
}

function describeField(field: Schema): string {
  if (!isJsonObject(field)) return ''
  const description = typeof field['description'] === 'string' ? commentText(field['description']) : ''
  return [description, constraintsOf(field)].filter((part) => part !== '').join('; ')
}
