import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { JsonObject, JsonValue } from '../common/json/json.js'
import { type ClientTool, clientCallExpiresMs, clientToolLimits } from '../common/runs/client-tools.js'
import type { Redact } from '../common/text/redact.js'
import { utf8Length } from '../common/text/text.js'
import { defineTool } from './define-tool.js'
import { createRegistry, type ToolRegistry } from './registry.js'
import type { Tool } from './tool.js'
import { normalizeSchema } from './validation/schema-document.js'
import { schemaSize } from './validation/schema-size.js'
import { TimeLimitError, withTimeLimit } from './validation/time-limit.js'

/**
 * The client tools of a conversation as a registry: their calls are documented, checked and deferred as those of other
 * tools.
 *
 * @throws PtcError TOOL_NAME_INVALID, TOOL_DUPLICATE, CONFIG_INVALID
 */
export function clientRegistry(tools: readonly ClientTool[], redact?: Redact): ToolRegistry {
  const { count, bytes, schemaParts } = clientToolLimits
  if (tools.length > count) throw new PtcError('CONFIG_INVALID', `there are ${tools.length} tools; at most ${count}`)
  const size = utf8Length(JSON.stringify(tools))
  if (size > bytes) throw new PtcError('CONFIG_INVALID', `the tools have ${size} bytes of JSON; at most ${bytes}`)
  const parts = tools.reduce((sum, { inputSchema }) => sum + sizeOf(inputSchema), 0)
  if (parts > schemaParts)
    throw new PtcError('CONFIG_INVALID', `the schemas of the tools have more than ${schemaParts} parts`)
  try {
    return withTimeLimit(() => createRegistry(tools.map(toTool), redact), maxReadMs)
  } catch (thrown) {
    if (!(thrown instanceof TimeLimitError)) throw thrown
    throw new PtcError('CONFIG_INVALID', 'the schemas of the tools take too long to read')
  }
}

/** Milliseconds of processor time for all tools of a conversation. */
const maxReadMs = 2_000

/** With references of all kinds. A schema that can't be read is refused later, with the reason. */
function sizeOf(schema: JsonObject): number {
  try {
    return schemaSize(normalizeSchema(schema))
  } catch {
    return schemaSize(schema)
  }
}

function toTool({ name, description, inputSchema, inputExamples = [], allowedCallers }: ClientTool): Tool {
  const isForCode = allowedCallers.includes('code_execution')
  return defineTool({
    name,
    description: isForCode ? `${description.trim()}\n${resultNote}`.trim() : description.trim() || name,
    input: withoutPatterns(inputSchema) as JsonObject,
    output: z.string(),
    // The client knows a call by its id. A result that never comes says nothing about the effect of the call.
    effect: 'once',
    allowedCallers,
    inputExamples,
    deferred: { expires: clientCallExpiresMs },
    run: () => undefined,
  })
}

const resultNote = 'Returns a text (str). If the text is JSON, parse it with json.loads.'

/**
 * A schema without regular expressions: some take hours to match, and these are not from the owner of the worker. The
 * client checks its arguments itself.
 */
function withoutPatterns(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPatterns)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject).filter(
    ([key, member]) => key !== 'patternProperties' && !(key === 'pattern' && typeof member === 'string'),
  )
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutPatterns(member)]))
}
