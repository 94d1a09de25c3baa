/*
 * A JSON value in a history: inline, or an external value `{ "ptc.value": ref }` (claim check).
 *
 * Invariants:
 * 1. Only activities and the client store and load external values. The workflow does not interpret them.
 * 2. A value that has the key `ptc.value` itself is never inline, so data from outside can't forge a reference.
 * 3. A reference is content-addressed: it is never stale.
 */

import { defined } from '../defined.js'
import type { JsonObject, JsonValue } from './json.js'

export interface ValueRef {
  /** SHA-256 of the value's bytes (JSON as UTF-8), 64 hex digits: also its key in a store that is not encrypted. */
  readonly sha256: string
  readonly bytes: number
  /** The first characters of the value; the Temporal UI shows them. */
  readonly preview: string
  /** Key and size of the object in the store, if it is encrypted. Undefined: they are those of the value. */
  readonly stored?: { readonly sha256: string; readonly bytes: number }
  /** The images of the result of a tool, for a model. Undefined: it has none, or no model gets them. */
  readonly images?: ResultImages
}

/** Images beside the JSON of a result. */
export interface ResultImages extends JsonObject {
  readonly shown: readonly ResultImage[]
  /** Which images are not shown, and why. Empty: all are. */
  readonly note: string
}

export interface ResultImage extends JsonObject {
  /** The name in the text of the result: `image 1`. */
  readonly name: string
  readonly mediaType: string
  /** The bytes in Base64. */
  readonly data: ExternalValue
}

/** The only key of an external value. */
export const externalValueKey = 'ptc.value'

/** A JSON value, inline while it is small. */
export type Externalizable<Value extends JsonValue = JsonValue> = Value | ExternalValue

/** A value by reference. Also a JSON object, so it fits wherever JSON fits. */
export interface ExternalValue extends JsonObject {
  readonly [externalValueKey]: JsonObject & ValueRef
}

/** The reference of an external value; undefined for an inline value. */
export function refOf(value: JsonValue): ValueRef | undefined {
  return isExternal(value) ? value[externalValueKey] : undefined
}

export function isExternal(value: JsonValue): value is ExternalValue {
  return typeof value === 'object' && value !== null && externalValueKey in value
}

/** The external value of a reference. The preview comes first, because the Temporal UI shows the beginning. */
export function externalValue({ sha256, bytes, preview, stored, images }: ValueRef): ExternalValue {
  return { [externalValueKey]: { preview, bytes, sha256, ...defined({ stored, images }) } }
}

export const previewCharacters = 200
