import type { JsonObject, JsonValue } from '../../../common/json/json.js'

/** A block of the reply. `streamed` is its text in deltas, or null for a block without deltas. */
export interface ReplyBlock {
  /** The block at its start in a stream, without text or input. */
  readonly opening: JsonObject
  readonly streamed: { readonly delta: 'text_delta' | 'input_json_delta'; readonly text: string } | null
}

/** A block of a complete message. Truncated input becomes an empty object. */
export function toContentBlock({ opening, streamed }: ReplyBlock): JsonObject {
  if (streamed === null) return opening
  if (streamed.delta === 'text_delta') return { ...opening, text: streamed.text }
  return { ...opening, input: parsedInput(streamed.text) }
}

function parsedInput(text: string): JsonValue {
  try {
    return text === '' ? {} : (JSON.parse(text) as JsonValue)
  } catch {
    return {}
  }
}

/** The text of a block that counts as output: its text, or its JSON. */
export function countCharacters({ opening, streamed }: ReplyBlock): number {
  if (streamed === null) return JSON.stringify(opening).length
  return streamed.text.length + (typeof opening['name'] === 'string' ? opening['name'].length : 0)
}
