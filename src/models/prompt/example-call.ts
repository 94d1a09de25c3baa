import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { type ExampleCall, parametersOf } from '../../languages/index.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'

/** A call of a tool as a short example: one of its own, or one with its required parameters. */
export function exampleCallOf({ name, codeName = name, inputSchema, inputExamples }: ToolDocumentation): ExampleCall {
  const short = inputExamples.find((example) => JSON.stringify(example).length <= maxExampleCharacters)
  return { codeName, input: short ?? requiredInput(inputSchema) }
}

const maxExampleCharacters = 120

const maxRequired = 3

function requiredInput(inputSchema: JsonObject): JsonObject {
  const required = parametersOf(inputSchema).filter((parameter) => parameter.required)
  return Object.fromEntries(required.slice(0, maxRequired).map(({ name, schema }) => [name, placeholderOf(schema)]))
}

/** A value for a parameter. It has the type of the parameter where the schema names a plain one. */
function placeholderOf(schema: JsonValue): JsonValue {
  const { enum: options, type } = isJsonObject(schema) ? schema : {}
  const [option] = Array.isArray(options) ? options : []
  if (typeof option === 'string' && option.length <= maxExampleCharacters / maxRequired) return option
  if (type === 'number' || type === 'integer') return 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  return type === 'object' ? {} : '...'
}
