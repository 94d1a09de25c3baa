import type { JsonObject, JsonValue } from '../common/json/json.js'
import { submitAnswerTool } from '../common/names.js'
import type { ModelTool } from './provider.js'

/** The member of the tool's input that has an answer which is no plain object. */
const wrapperKey = 'answer'

/**
 * The tool with which the model delivers an answer that has a schema. Not the structured outputs of the API: those
 * limit the schema, and other servers lack them.
 *
 * @param outputSchema JSON Schema of the answer
 */
export function answerTool(outputSchema: JsonObject): ModelTool {
  return {
    name: submitAnswerTool,
    description: 'Delivers the final answer. When the answer has been accepted, the conversation is over.',
    inputSchema: isWrapped(outputSchema) ? wrap(outputSchema) : outputSchema,
    inputExamples: [],
  }
}

/** The answer in the input of a tool use. */
export function answerOf(outputSchema: JsonObject, input: JsonObject): JsonValue | undefined {
  return isWrapped(outputSchema) ? input[wrapperKey] : input
}

/** The Messages API takes tools whose input is an object, without alternatives at the top level. */
function isWrapped(schema: JsonObject): boolean {
  return schema['type'] !== 'object' || ['anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
}

/** References in a schema begin at its root, which is another one now. */
function wrap(outputSchema: JsonObject): JsonObject {
  const text = JSON.stringify(outputSchema)
  const isRecursive = text.includes(toRoot)
  const { $defs: definitions = {}, ...schema } = JSON.parse(text.replaceAll(toRoot, toAnswer)) as JsonObject
  const allDefinitions = { ...(definitions as JsonObject), ...(isRecursive && { Answer: schema }) }
  return {
    type: 'object',
    properties: { [wrapperKey]: isRecursive ? { $ref: '#/$defs/Answer' } : schema },
    required: [wrapperKey],
    additionalProperties: false,
    ...(Object.keys(allDefinitions).length > 0 && { $defs: allDefinitions }),
  }
}

/** A reference of a recursive schema to its root, and to where the root is in the wrapper. */
const toRoot = '"$ref":"#"'
const toAnswer = '"$ref":"#/$defs/Answer"'
