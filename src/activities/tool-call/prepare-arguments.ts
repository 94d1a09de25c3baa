import { getClient } from '@temporalio/activity'
import type { z } from 'zod'
import { digestJson } from '../../common/calls/call-identity.js'
import { maxRemoteArgumentBytes, type ToolCallInput } from '../../common/calls/calls.js'
import type { PrepareArgumentsInput } from '../../common/calls/call-activities.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { checkSize, parseArguments } from '../../tools/validation/check-arguments.js'
import { fromJsonSchema } from '../../tools/validation/json-schema.js'
import type { Values } from '../../values/values.js'
import { type ActivityParts, runActivity } from '../run-activity.js'
import { findRunTools, loadDocumentation } from '../../tools/sources/tool-set.js'

/** @throws errors of the value store */
export async function loadArguments(
  values: Values,
  { tool, arguments: value }: Pick<ToolCallInput, 'tool' | 'arguments'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  // The stored arguments are an object, because a sandbox and a model always send an object.
  return (await values.load(value, `the arguments of ${tool}`, signal)) as JsonObject
}

/**
 * Activity `tool.arguments`: returns the arguments of a call for a remote tool, inline and parsed. If the worker has
 * the tool that the run recorded, it parses them with the tool's own schema, otherwise with the recorded JSON Schema.
 *
 * @throws PtcError TOOL_INPUT_INVALID, TOOL_UNKNOWN, TOOL_NOT_ALLOWED without the Nexus endpoint, and errors of the
 *   value store
 */
export function prepareArguments({ registry, values }: ActivityParts) {
  return (input: PrepareArgumentsInput): Promise<JsonObject> =>
    runActivity(async ({ signal }) => {
      const { tool: name, tools, nexusEndpoint } = input
      if (nexusEndpoint !== undefined) await assertEndpointExists(nexusEndpoint)
      const tool = { name, input: await inputSchemaOf(registry, values, name, tools, signal) }
      const args = await loadArguments(values, input, signal)
      assertSize(args)
      const parsed = await parseArguments(tool, args)
      if (!parsed.ok) throw new PtcError(parsed.refusal.code, parsed.refusal.message)
      // This removes undefined members. `defineTool` has checked that the schema parses to JSON.
      const prepared = JSON.parse(JSON.stringify(parsed.value)) as JsonObject
      assertSize(prepared)
      return prepared
    })
}

/**
 * Checks that an endpoint exists. If the server does not let this worker list endpoints, the endpoint counts as
 * existing.
 */
async function assertEndpointExists(name: string): Promise<void> {
  const { operatorService } = getClient().connection
  const listed = await operatorService.listNexusEndpoints({ name }).catch(() => undefined)
  if (listed?.endpoints?.length !== 0) return
  throw new PtcError('TOOL_NOT_ALLOWED', `there is no Nexus endpoint named ${name}`)
}

function assertSize(args: JsonObject): void {
  const refusal = checkSize(args, { argumentBytes: maxRemoteArgumentBytes })
  if (refusal !== undefined) throw new PtcError(refusal.code, refusal.message)
}

async function inputSchemaOf(
  registry: ToolRegistry,
  values: Values,
  name: string,
  tools: PrepareArgumentsInput['tools'],
  signal: AbortSignal,
): Promise<z.ZodType<Record<string, unknown>>> {
  const own = registry.get(name)
  if (own && findRunTools(registry, tools).registryMatchesRun) return own.input
  const documentation = await loadDocumentation(tools, registry, values, signal)
  const tool = documentation.find((each) => each.name === name)
  if (tool === undefined) throw new PtcError('TOOL_UNKNOWN', `the run has recorded no tool named ${name}`)
  const { inputSchema: recorded, documentsDefaults = false } = tool
  if (own && digestJson(own.inputSchema) === digestJson(recorded)) return own.input
  const isOfZod = !documentsDefaults
  return fromJsonSchema(recorded, { appliesDefaults: isOfZod, checksFormats: isOfZod }) as z.ZodType<
    Record<string, unknown>
  >
}
