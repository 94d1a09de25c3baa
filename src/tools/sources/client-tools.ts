import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { type ClientTool, clientCallExpiresMs, clientToolLimits } from '../../common/calls/client-tools.js'
import type { Redact } from '../../common/text/redact.js'
import { utf8Length } from '../../common/text/text.js'
import { defineTool } from '../define-tool.js'
import { createRegistry, type ToolRegistry } from '../registry.js'
import { describeJsonInput } from '../definition/json-input.js'
import { readOutput } from '../definition/schemas.js'
import { sealTool, type Tool } from '../tool.js'
import { jsonObject, listOf } from '../validation/bounded-schemas.js'
import { mapSchemas, normalizeSchema } from '../validation/schema-document.js'
import { schemaSize } from '../validation/schema-size.js'
import { TimeLimitError, interruptAfter } from '../validation/time-limit.js'

/** Accepts a client tool, from a client or from the record of a run. */
export const clientToolSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  inputSchema: jsonObject(clientToolLimits.bytes),
  inputExamples: listOf(jsonObject(clientToolLimits.bytes), clientToolLimits.examples).exactOptional(),
  allowedCallers: z.array(z.enum(['direct', 'code_execution'])).min(1),
} satisfies { readonly [Key in keyof ClientTool]-?: z.ZodType })

/**
 * The client tools of a conversation as a registry: their calls are documented, checked and deferred in the same way as
 * those of other tools.
 *
 * @throws PtcError TOOL_NAME_INVALID, TOOL_DUPLICATE, CONFIG_INVALID
 */
export function clientRegistry(tools: readonly ClientTool[], redact?: Redact): ToolRegistry {
  const { count, bytes, schemaParts } = clientToolLimits
  if (tools.length > count) throw new PtcError('CONFIG_INVALID', `there are ${tools.length} tools; at most ${count}`)
  const size = utf8Length(JSON.stringify(tools))
  if (size > bytes) throw new PtcError('CONFIG_INVALID', `the tools have ${size} bytes of JSON; at most ${bytes}`)
  return readInTime('the schemas of the tools take', () => {
    const parts = tools.reduce((sum, { inputSchema }) => sum + sizeOf(inputSchema), 0)
    if (parts > schemaParts)
      throw new PtcError('CONFIG_INVALID', `the schemas of the tools have more than ${schemaParts} parts`)
    return createRegistry(tools.map(toTool), redact)
  })
}

/** Milliseconds of processor time for all tools of a conversation. */
const maxReadMs = 2_000

function readInTime<Result>(subject: string, read: () => Result): Result {
  try {
    return interruptAfter(read, maxReadMs)
  } catch (thrown) {
    if (!(thrown instanceof TimeLimitError)) throw thrown
    throw new PtcError('CONFIG_INVALID', `${subject} too long to read`)
  }
}

/**
 * The size of a schema with its references of all kinds. A schema that can't be read is refused later, with the reason.
 */
function sizeOf(schema: JsonObject): number {
  try {
    return schemaSize(normalizeSchema(schema))
  } catch {
    return schemaSize(schema)
  }
}

/** @throws PtcError CONFIG_INVALID for a schema of an answer that is too large, or can't be checked here */
export function checkClientSchema(schema: JsonObject): void {
  readInTime('the schema takes', () => {
    if (sizeOf(schema) > clientToolLimits.schemaParts)
      throw new PtcError('CONFIG_INVALID', `the schema has more than ${clientToolLimits.schemaParts} parts`)
    readOutput(withoutPatterns(schema), (problem) => new PtcError('CONFIG_INVALID', problem))
  })
}

/** The rule of the Messages API. */
const namePattern = /^[a-zA-Z0-9_-]{1,128}$/

/** The name of a tool that code does not call need not be usable in code. */
function toTool({ name, description, inputSchema, inputExamples = [], allowedCallers }: ClientTool): Tool {
  const isForCode = allowedCallers.includes('code_execution')
  if (!isForCode && (!namePattern.test(name) || name === '__proto__'))
    throw new PtcError('TOOL_NAME_INVALID', `tool name ${JSON.stringify(name.slice(0, 130))} is not allowed`, {
      hint: 'Use at most 128 letters, digits, underscores and dashes.',
    })
  const define = (usedName: string): Tool =>
    defineTool({
      name: usedName,
      description: isForCode ? `${description.trim()}\n${resultNote}`.trim() : description.trim() || name,
      input: withoutPatterns(inputSchema),
      output: z.string(),
      // The client knows a call by its id. A missing result says nothing about the effect of the call.
      effect: 'once',
      allowedCallers,
      inputExamples,
      deferred: { expires: clientCallExpiresMs },
      run: () => undefined,
    })
  try {
    // The model reads the schema as it is written.
    return sealTool({
      ...define(isForCode ? name : directTool),
      name,
      inputSchema: describeJsonInput(inputSchema),
      isClientTool: true,
    })
  } catch (thrown) {
    if (isForCode || !PtcError.isInstance(thrown)) throw thrown
    const { code, message, hint } = thrown
    throw new PtcError(
      code,
      message.replace(directTool, () => name),
      hint === undefined ? {} : { hint },
    )
  }
}

/** A valid name for `defineTool`. The tool's own name then replaces it. */
const directTool = 'direct_tool'

const resultNote = 'Returns a text (str). If the text is JSON, parse it with json.loads.'

/**
 * A schema without regular expressions: some take hours to match, and these are not from the owner of the worker. The
 * client checks its arguments itself. A schema with patterns of names allows every name, with a value that fits one of
 * the patterns.
 */
export function withoutPatterns(schema: JsonObject): JsonObject {
  try {
    return withoutPatternsIn(normalizeSchema(schema)) as JsonObject
  } catch {
    return schema // which is refused later, with the reason
  }
}

/** As {@link withoutPatterns}, for a schema that `normalizeSchema` returned. */
export function withoutPatternsIn(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema
  const { pattern: _, patternProperties, ...rest } = mapSchemas(schema, withoutPatternsIn)
  if (!isJsonObject(patternProperties)) return rest
  const { additionalProperties: others = true } = rest
  const allowed = [...Object.values(patternProperties), others].filter((each) => each !== false)
  if (allowed.length === 0) return rest
  return { ...rest, additionalProperties: others === true || { anyOf: allowed } }
}
