import { z } from 'zod'
import { messageOf } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { isZodSchema, refuseZod3 } from '../validation/check-schema.js'
import { toJsonSchema } from '../validation/json-schema.js'
import type { InvalidError } from './invalid-tool.js'

/** A JSON Schema (2020-12, 7 or 4) with local references only. */
export type JsonSchema = { readonly [Key in string]?: unknown } & { readonly _zod?: never; readonly _def?: never }

/** A schema as zod: a JSON Schema is converted. */
export type AsZodObject<Schema> = Schema extends z.ZodObject ? Schema : z.ZodObject
export type AsZodType<Schema> = Schema extends z.ZodType ? Schema : z.ZodType

/**
 * Refuses unknown arguments, as Python does: silently dropping a misspelt one would give a wrong result. A JSON Schema
 * that says nothing about additional properties refuses them, too.
 */
export function readInput(schema: unknown, invalid: InvalidError): z.ZodObject {
  const isJsonSchema = !isZodSchema(schema)
  const converted = readSchema('input', isJsonSchema ? closed(schema) : schema, invalid)
  if (!isObjectSchema(converted)) {
    throw invalid(
      isJsonSchema ? 'input must be a JSON Schema of an object with properties' : 'input must be a z.object(…)',
      'Arguments have names; put the value into a field of an object.',
    )
  }
  return converted.def.catchall === undefined ? converted.strict() : converted
}

export function readOutput(schema: unknown, invalid: InvalidError): z.ZodType {
  return readSchema('output', schema, invalid)
}

/** What a caller sends or receives, as JSON Schema. */
export function schemaOf(field: 'input' | 'output', schema: z.ZodType, invalid: InvalidError): JsonObject {
  try {
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

/** A remote tool gets the parsed arguments, so they must be JSON, too. */
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

function readSchema(field: 'input' | 'output', schema: unknown, invalid: InvalidError): z.ZodType {
  if (isZodSchema(schema)) return schema
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw invalid(`${field} must be a zod schema or a JSON Schema`)
  }
  refuseZod3(field, schema, invalid)
  try {
    return z.fromJSONSchema(JSON.parse(JSON.stringify(schema)) as Parameters<typeof z.fromJSONSchema>[0])
  } catch (cause) {
    throw invalid(`${field} is no JSON Schema that can be checked here: ${messageOf(cause)}`)
  }
}

function isObjectSchema(schema: z.ZodType): schema is z.ZodObject {
  return (schema.def as { readonly type: string }).type === 'object'
}

function closed(schema: unknown): unknown {
  const isObject = typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object'
  return isObject ? { additionalProperties: false, ...schema } : schema
}
