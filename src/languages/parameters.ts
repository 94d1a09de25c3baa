import { isJsonObject, type JsonObject, type JsonValue } from '../common/json/json.js'

/** A parameter of the function of a tool. */
export interface Parameter {
  readonly name: string
  readonly schema: JsonValue
  readonly required: boolean
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
