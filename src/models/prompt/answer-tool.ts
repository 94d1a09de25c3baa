import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { submitAnswerTool } from '../../common/names.js'
import type { ModelTool } from '../provider.js'

/** The member of the tool's input for an answer that is not a plain object. */
const wrapperKey = 'answer'

/**
 * The tool with which the model submits an answer that has a schema. The structured outputs of the API are not used:
 * they limit the schema, and other servers lack them.
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

/**
 * Whether an answer needs a wrapper: the Messages API accepts only objects without alternatives at the top level as the
 * input of tools.
 */
function isWrapped(schema: JsonObject): boolean {
  return schema['type'] !== 'object' || ['anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
}

/** Wraps a schema. References in it begin at its root, so they change with the root. */
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

/** A reference of a recursive schema to its root, and the path of that root in the wrapper. */
const toRoot = '"$ref":"#"'
const toAnswer = '"$ref":"#/$defs/Answer"'
