import { z } from 'zod'
import { defined } from '../../../common/defined.js'
import type { JsonObject } from '../../../common/json/json.js'
import { takeStart } from '../../../common/text/text.js'
import { defineReadTool } from '../../define-tool.js'
import { describeNormalizedInput, readNormalizedInput } from '../../definition/json-input.js'
import type { ReadSchema } from '../../definition/schemas.js'
import { sealTool, type Tool } from '../../tool.js'
import { normalizeSchema } from '../../validation/schema-document.js'
import { schemaSize } from '../../validation/schema-size.js'
import { withoutPatternsIn } from '../client-tools.js'
import type { Operation } from './operation.js'
import { credentialsOfCalls, type OpenApiCallOptions, type ParsedOpenApiSource } from './options.js'
import { callOperation } from './request/call-operation.js'

/** Descriptions go into every prompt. */
const maxDescriptionCharacters = 2_000

/** Parts of a schema that is checked here. A larger one is documentation, and the API checks it. */
const maxParts = 20_000

/** A tool, and what is not usual about it. */
export interface MadeTool {
  readonly tool: Tool
  readonly note: string | undefined
}

/** An operation as a tool. */
export function toTool(operation: Operation, toolName: string, source: ParsedOpenApiSource): MadeTool {
  const { id, key, description, outputSchema } = operation
  const { effect, approval, timeout, allowedCallers, ...called } = optionsOf(operation, source)
  const { input, note } = readInput(operation)
  const tool = defineReadTool(
    {
      name: toolName,
      description: takeStart(description, maxDescriptionCharacters).trim() || key,
      effect,
      approval,
      credentials: credentialsOfCalls(source),
      ...defined({ timeout, allowedCallers }),
      run: (args, context) => callOperation({ operation, source, effect, ...called }, args as JsonObject, context),
    },
    {
      input,
      output: {
        schema: z.unknown(),
        json: called.hasResponseHeaders ? responseSchema(outputSchema) : outputSchema,
        documentsDefaults: true,
      },
    },
  )
  const repairing = sealTool({ ...tool, repairsArguments: true })
  return { tool: repairing, note: note === undefined ? undefined : `${id}: ${note}` }
}

/** The schema of an operation that can't be checked is documentation: the API is the authority. */
function readInput({ inputSchema }: Operation): { readonly input: ReadSchema<z.ZodObject>; readonly note?: string } {
  const normalized = normalizeSchema(inputSchema)
  const json = describeNormalizedInput(normalized)
  try {
    const parts = schemaSize(normalized)
    if (parts > maxParts) throw new Error('it is too large')
    // A pattern of a document may take hours to match. The API checks it.
    const { schema } = readNormalizedInput(withoutPatternsIn(normalized) as JsonObject)
    return { input: { schema, json, documentsDefaults: true } }
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'it is not readable'
    return {
      input: { schema: z.looseObject({}), json, documentsDefaults: true },
      note: `its arguments are not checked before they are sent: ${reason}`,
    }
  }
}

const effects = {
  get: 'read',
  head: 'read',
  options: 'read',
  put: 'idempotent',
  delete: 'idempotent',
  post: 'once',
  patch: 'once',
} as const

/** See `OpenApiCallOptions`: the options of the operation, those of the API, the method. */
function optionsOf({ id, key, method }: Operation, source: ParsedOpenApiSource) {
  const { operations } = source
  const own: OpenApiCallOptions =
    [key, id].flatMap((each) => (Object.hasOwn(operations, each) ? (operations[each] ?? []) : []))[0] ?? {}
  const idempotencyKeyHeader =
    effects[method] === 'once' ? (own.idempotencyKeyHeader ?? source.idempotencyKeyHeader) : undefined
  const byMethod = idempotencyKeyHeader === undefined ? effects[method] : 'idempotent'
  const effect = own.effect ?? source.effect ?? byMethod
  return {
    effect,
    approval: own.approval ?? source.approval ?? (effect === 'read' ? 'never' : 'always'),
    timeout: own.timeout ?? source.timeout,
    allowedCallers: own.allowedCallers ?? source.allowedCallers,
    idempotencyKeyHeader,
    hasResponseHeaders: own.responseHeaders ?? source.responseHeaders ?? false,
  } as const
}

function responseSchema(body: JsonObject): JsonObject {
  const headers = { type: 'object', additionalProperties: { type: 'string' } }
  const properties = { status: { type: 'integer' }, headers, body }
  return { type: 'object', properties, required: Object.keys(properties) }
}
