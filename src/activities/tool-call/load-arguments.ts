import type { ToolCallInput } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Values } from '../../values/values.js'

/** @throws those of the value store */
export async function loadArguments(
  values: Values,
  { tool, arguments: value }: Pick<ToolCallInput, 'tool' | 'arguments'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  // The stored arguments are an object: those of a sandbox and of a model always are.
  return (await values.load(value, `the arguments of ${tool}`, signal)) as JsonObject
}
