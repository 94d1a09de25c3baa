import { isJsonObject, type JsonObject, type JsonValue } from '../common/json/json.js'

/** A parameter of the function of a tool. */
export interface Parameter {
  readonly name: string
  readonly schema: JsonValue
  readonly required: boolean
}

/** Whether arguments may have numbers: some part of the schema is for numbers, or names no type. */
export function mayTakeNumbers(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.some(mayTakeNumbers)
  if (!isJsonObject(schema)) return schema === true
  const { type, enum: options, const: only, properties, items, additionalProperties, anyOf, oneOf, allOf } = schema
  const parts = [anyOf, oneOf, allOf].filter((part) => part !== undefined)
  if (parts.length > 0) return parts.some(mayTakeNumbers)
  if (options !== undefined || only !== undefined) return false // the type names the values
  const types = Array.isArray(type) ? type : [type]
  if (types.every((each) => each === 'string' || each === 'boolean' || each === 'null')) return false
  if (type === 'array') return mayTakeNumbers(items ?? true)
  const isPlainObject = type === 'object' && schema['patternProperties'] === undefined
  const others = additionalProperties ?? properties === undefined
  return (
    !isPlainObject ||
    mayTakeNumbers(others) ||
    mayTakeNumbers(Object.values(isJsonObject(properties) ? properties : {}))
  )
}

/** The parameters, required ones first: the order in the stub, and of positional arguments. */
export function parametersOf(inputSchema: JsonObject): readonly Parameter[] {
  const { properties, required } = inputSchema
  const names: readonly JsonValue[] = Array.isArray(required) ? required : []
  const all = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema,
    required: names.includes(name),
  }))
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)]
}
