import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'

/**
 * A zod schema as JSON Schema for the model: the side a caller writes (`input`) or reads (`output`), without redundant
 * keywords, which would only cost tokens.
 *
 * @throws Error when JSON Schema can't represent it (a Date, a transform without `.pipe`)
 */
export function toJsonSchema(schema: z.ZodType, side: 'input' | 'output'): JsonObject {
  const full = z.toJSONSchema(schema, {
    io: side,
    override: ({ jsonSchema }) => {
      // z.int() adds the bounds of safe integers; a pattern beside a format repeats the format in a hundred characters.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      // Holds for every output that zod has parsed, and does not help the reader.
      if (side === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  const { $schema: _, ...plain } = JSON.parse(JSON.stringify(full)) as JsonObject
  return inlineRootReference(plain)
}

/** Inlines X in `{ $ref: '#/$defs/X', $defs }`: the Messages API requires `type: 'object'` at the root. */
function inlineRootReference(schema: JsonObject): JsonObject {
  const { $ref: reference, $defs: definitions, ...rest } = schema
  if (typeof reference !== 'string' || definitions === undefined) return schema
  const target = (definitions as JsonObject)[reference.replace('#/$defs/', '')]
  if (typeof target !== 'object' || target === null) return schema
  const { id: _, ...root } = target as JsonObject
  const used = JSON.stringify(definitions).includes('"$ref"')
  return { title: reference.replace('#/$defs/', ''), ...root, ...rest, ...(used ? { $defs: definitions } : {}) }
}
