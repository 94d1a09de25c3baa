import type { z } from 'zod'
import { messageOf } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { type FileOutputOptions, fileOutputOf } from '../file-output.js'
import { isZodSchema, refuseZod3 } from '../validation/check-schema.js'
import { fromNormalizedSchema, refuseProto, toJsonSchema } from '../validation/json-schema.js'
import { normalizeSchema } from '../validation/schema-document.js'
import type { InvalidError } from './invalid-tool.js'
import { NotAnObjectError, readJsonInput } from './json-input.js'

/** A JSON Schema (draft 4 to 2020-12, or of OpenAPI 3) whose references stay within it. */
export type JsonSchema = { readonly [Key in string]?: unknown } & { readonly _zod?: never; readonly _def?: never }

/** The zod type of a schema. A JSON Schema is converted. */
export type AsZodObject<Schema> = Schema extends z.ZodObject ? Schema : z.ZodObject
export type AsZodType<Schema> = Schema extends z.ZodType ? Schema : z.ZodType

/** A checked schema, and the JSON Schema that the model reads. */
export interface ReadSchema<Schema extends z.ZodType> {
  readonly schema: Schema
  readonly json: JsonObject
  /** The defaults of a JSON Schema are documentation, and are not applied. */
  readonly documentsDefaults: boolean
  /** Set for an output that is a file: `json` describes its path. */
  readonly file?: FileOutputOptions
}

/**
 * Refuses unknown arguments, as Python does: silently dropping a misspelt one would give a wrong result. A JSON Schema
 * without a rule for additional properties refuses them, too.
 */
export function readInput(schema: unknown, invalid: InvalidError): ReadSchema<z.ZodObject> {
  if (!isZodSchema(schema)) {
    const document = asJsonSchema('input', schema, invalid)
    try {
      return { ...readJsonInput(document), documentsDefaults: true }
    } catch (cause) {
      throw invalid(
        `input is not a JSON Schema of arguments that can be checked here: ${messageOf(cause)}`,
        cause instanceof NotAnObjectError ? nameArguments : undefined,
      )
    }
  }
  if (!isObjectSchema(schema)) {
    throw invalid('input must be a z.object(…)', nameArguments)
  }
  const strict = schema.def.catchall === undefined ? schema.strict() : schema
  return { schema: strict, json: schemaOf('input', strict, invalid), documentsDefaults: false }
}

const nameArguments = 'Arguments have names; put the value into a field of an object.'

export function readOutput(schema: unknown, invalid: InvalidError): ReadSchema<z.ZodType> {
  const file = isZodSchema(schema) ? fileOutputOf(schema) : undefined
  if (file && isZodSchema(schema)) return { schema, json: { type: 'string' }, documentsDefaults: false, file }
  if (isZodSchema(schema)) return { schema, json: schemaOf('output', schema, invalid), documentsDefaults: false }
  const document = asJsonSchema('output', schema, invalid)
  try {
    const { $schema: _, ...json } = normalizeSchema(document)
    return { schema: fromNormalizedSchema(json), json, documentsDefaults: true }
  } catch (cause) {
    throw invalid(`output is not a JSON Schema that can be checked here: ${messageOf(cause)}`)
  }
}

/** The JSON Schema of the data that a caller sends or receives. */
function schemaOf(field: 'input' | 'output', schema: z.ZodType, invalid: InvalidError): JsonObject {
  try {
    refuseProto(schema)
    return toJsonSchema(schema, field)
  } catch (cause) {
    throw invalid(
      `${field} can't be shown as JSON Schema: ${messageOf(cause)}`,
      field === 'output'
        ? 'Use types that JSON has (a date as z.iso.datetime()), and end a transform with .pipe(schema of its result).'
        : 'Use types that JSON has (a date as z.iso.datetime()).',
    )
  }
}

/** Checks that parsed arguments are JSON, because a remote tool gets them. */
export function assertParsesToJson(input: z.ZodObject, invalid: InvalidError): void {
  try {
    toJsonSchema(input, 'output')
  } catch (cause) {
    throw invalid(
      `input can't be sent to another worker: ${messageOf(cause)}`,
      'The parsed arguments must be JSON: end a transform with .pipe(schema of its result).',
    )
  }
}

function asJsonSchema(field: 'input' | 'output', schema: unknown, invalid: InvalidError): JsonObject {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw invalid(`${field} must be a zod schema or a JSON Schema`)
  }
  refuseZod3(field, schema, invalid)
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonObject
  } catch (cause) {
    throw invalid(`${field} is not JSON: ${messageOf(cause)}`)
  }
}

function isObjectSchema(schema: z.ZodType): schema is z.ZodObject {
  return (schema.def as { readonly type: string }).type === 'object'
}
