import type { JsonObject, JsonValue } from '../../common/json.js'

/** A block of the answer, with the text it is streamed in; `streamed` is null for a block that comes whole. */
export interface ReplyBlock {
  /** As it opens in a stream: without its text or input. */
  readonly opening: JsonObject
  readonly streamed: { readonly delta: 'text_delta' | 'input_json_delta'; readonly text: string } | null
}

/** A block as it stands in a complete message. Input cut short is what can be read of it: nothing. */
export function wholeBlock({ opening, streamed }: ReplyBlock): JsonObject {
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

/** What a block counts as output: its text, and for anything else its JSON. */
export function charactersOf({ opening, streamed }: ReplyBlock): number {
  if (streamed === null) return JSON.stringify(opening).length
  return streamed.text.length + (typeof opening['name'] === 'string' ? opening['name'].length : 0)
}
