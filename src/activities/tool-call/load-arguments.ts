import type { ToolCallInput } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Values } from '../../values/values.js'

/** @throws errors of the value store */
export async function loadArguments(
  values: Values,
  { tool, arguments: value }: Pick<ToolCallInput, 'tool' | 'arguments'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  // The stored arguments are an object, because a sandbox and a model always send an object.
  return (await values.load(value, `the arguments of ${tool}`, signal)) as JsonObject
}
