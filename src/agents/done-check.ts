import type { JsonObject, JsonValue } from '../common/json/json.js'
import type { Tool } from '../tools/tool.js'

/** The argument for the answer, if the tool has it. */
const answerArgument = 'answer'

/** The arguments for the tool that checks whether the work is done. */
export function doneCheckArguments(tool: Tool | undefined, answer: JsonValue): JsonObject {
  return answerArgument in propertiesOf(tool?.inputSchema) ? { [answerArgument]: answer } : {}
}

/** Why a tool can't check whether the work is done; undefined when it can. */
export function problemOfDoneCheck(tool: Tool): string | undefined {
  const { effect, deferred, approval, allowedCallers, inputSchema, outputSchema } = tool
  if (effect !== 'read') return "must have effect: 'read'"
  if (deferred !== undefined || approval !== undefined) return 'must not be deferred, or need approval'
  if (!allowedCallers.includes('direct')) return "must allow the caller 'direct'"
  const isDone = propertiesOf(outputSchema)['done']
  if (!requiredOf(outputSchema).includes('done') || typeOf(isDone) !== 'boolean')
    return 'must return { done: boolean }, with a reason if it is false'
  const others = requiredOf(inputSchema).filter((name) => name !== answerArgument)
  return others.length === 0 ? undefined : `must not require arguments other than ${answerArgument}`
}

function propertiesOf(schema: JsonObject | undefined): JsonObject {
  const properties = schema?.['properties']
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties)
    ? (properties as JsonObject)
    : {}
}

function requiredOf(schema: JsonObject): readonly unknown[] {
  const required = schema['required']
  return Array.isArray(required) ? required : []
}

function typeOf(schema: unknown): unknown {
  return typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined
}
