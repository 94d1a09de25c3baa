import { z } from 'zod'
import {
  type Externalizable,
  type ExternalValue,
  externalValue,
  type ValueRef,
  externalValueKey,
} from '../../../common/json/external-value.js'

export const digest = z.string().regex(/^[0-9a-f]{64}$/)
export const byteCount = z.int().min(0)

const bytes = { sha256: digest, bytes: byteCount }
const externalValueSchema = z.object({
  [externalValueKey]: z.object({ ...bytes, preview: z.string(), stored: z.object(bytes).exactOptional() }),
})

/** Validates an external value, because a tool result may use the same key for something else. */
export const externalValueShape: z.ZodType<ExternalValue> = externalValueSchema.transform((value) =>
  externalValue(value[externalValueKey]),
)

/** An inline or external text. */
export const externalizableString = z.union([z.string(), externalValueShape])

/** Returns the reference of an external value; undefined for any other value. */
export function parseRef(value: unknown): ValueRef | undefined {
  // This runs for each call of each tree, so only the few values with the key are validated.
  if (typeof value !== 'object' || value === null || !(externalValueKey in value)) return undefined
  return externalValueSchema.safeParse(value).data?.[externalValueKey]
}

export function isSameText(one: Externalizable<string>, other: Externalizable<string>): boolean {
  const ref = parseRef(one)
  return ref === undefined ? one === other : ref.sha256 === parseRef(other)?.sha256
}

/** Returns the UTF-8 bytes of a text, or of any other value as JSON. An external value has the size of its content. */
export function byteLengthOf(value: unknown): number {
  const ref = parseRef(value)
  if (ref !== undefined) return ref.bytes
  return Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

/** Returns the start of an external text. */
export function previewText({ preview }: ValueRef): string {
  // The preview is truncated JSON. It may end in the middle of an escape (`\\uXXXX` is the longest).
  for (let dropped = 0; dropped < 6; dropped += 1) {
    const text =
      parseJsonString(`${preview.slice(0, preview.length - dropped)}"`) ??
      parseJsonString(preview.slice(0, preview.length - dropped))
    if (text !== undefined) return text
  }
  return preview
}

function parseJsonString(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
