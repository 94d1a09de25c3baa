import type { z } from 'zod'
import { digestJson } from '../../common/calls/call-identity.js'
import type { ToolResultInput } from '../../common/calls/call-activities.js'
import type { Externalizable } from '../../common/json/external-value.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { checkOutput } from '../../tools/validation/check-output.js'
import { fromJsonSchema } from '../../tools/validation/json-schema.js'
import type { Values } from '../../values/values.js'
import { runActivity, type ActivityParts } from '../run-activity.js'
import { findRunTools, loadOutputSchema } from '../../tools/sources/tool-set.js'

/**
 * Activity `tool.result`: checks a result that comes from outside the worker, and externalizes a large one. If the
 * worker has the tool that the run recorded, it parses the result with the tool's own schema, otherwise with the
 * recorded JSON Schema.
 *
 * @throws PtcError TOOL_OUTPUT_INVALID, TOOL_RESULT_TOO_LARGE, TOOL_UNKNOWN, and errors of the value store
 */
export function checkToolResult({ registry, values }: ActivityParts) {
  return ({ tool, value, tools, resultBytes }: ToolResultInput): Promise<Externalizable> =>
    runActivity(async ({ signal }) => {
      const output = await outputSchemaOf(registry, values, tool, tools, signal)
      const loaded = await values.load(value, `the result of ${tool}`, signal)
      return values.externalize(await checkOutput({ name: tool, output }, loaded, { resultBytes }), signal)
    })
}

async function outputSchemaOf(
  registry: ToolRegistry,
  values: Values,
  name: string,
  tools: ToolResultInput['tools'],
  signal: AbortSignal,
): Promise<z.ZodType> {
  const own = registry.get(name)
  if (own && findRunTools(registry, tools).registryMatchesRun) return own.output
  const recorded = await loadOutputSchema(name, tools, values, signal)
  if (recorded === undefined) {
    throw new PtcError('TOOL_UNKNOWN', `the run has recorded no output schema of a tool named ${name}`)
  }
  return own && digestJson(own.outputSchema) === digestJson(recorded) ? own.output : toZodSchema(name, recorded)
}

function toZodSchema(name: string, schema: JsonObject): z.ZodType {
  try {
    return fromJsonSchema(schema, { appliesDefaults: true })
  } catch (cause) {
    throw new PtcError('TOOL_OUTPUT_INVALID', `the output schema of ${name} can't check a result here`, {
      hint: 'Start a worker that has the tool as the run recorded it.',
      cause,
    })
  }
}
