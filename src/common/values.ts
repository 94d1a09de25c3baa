import type { JsonObject, JsonValue } from './json.js'

/** A value that is kept outside of the history: by its content, so it is the same for ever. */
export interface ValueRef {
  /** SHA-256 of its bytes (JSON as UTF-8), 64 hex digits: also its key in the store. */
  readonly sha256: string
  readonly bytes: number
  /** Its first characters, for people: the Temporal UI shows them beside the reference. */
  readonly preview: string
}

/** The one key of an object that stands for a value kept elsewhere. A value that has it itself is never kept in place. */
export const valueKey = 'ptc.value'

/**
 * A JSON value as it travels through the history: in place while it is small, `{ "ptc.value": ref }` when it is not. Only the
 * borders (activities) make and load these; the workflow passes them on unread.
 */
export type Held<Value extends JsonValue = JsonValue> = Value | HeldElsewhere

/** A value by reference. Also a JSON object, so whatever carries JSON carries it. */
export interface HeldElsewhere extends JsonObject {
  readonly [valueKey]: JsonObject & ValueRef
}

/** The reference of a value that is kept elsewhere; undefined for one in place. */
export function refOf(held: JsonValue): ValueRef | undefined {
  return isHeldElsewhere(held) ? held[valueKey] : undefined
}

export function isHeldElsewhere(held: JsonValue): held is HeldElsewhere {
  return typeof held === 'object' && held !== null && valueKey in held
}

/** The preview first: that much of it the Temporal UI shows in a row. */
export function heldElsewhere({ sha256, bytes, preview }: ValueRef): HeldElsewhere {
  return { [valueKey]: { preview, bytes, sha256 } }
}

/** Characters of a preview. */
export const previewCharacters = 200
