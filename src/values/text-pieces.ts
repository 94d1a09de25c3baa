import { stringifyChunked } from '@discoveryjs/json-ext'
import type { JsonValue } from '../common/json/json.js'
import { cutIndex } from '../common/text/text.js'

/** Characters of a piece of JSON: large enough for little overhead, small compared to a value. */
const jsonPieceCharacters = 64 * 1024

/**
 * Values of up to about this number of characters are serialized at once: the start of the serializer in pieces costs
 * more.
 */
const smallValueSize = 1_000

/** Maximum characters of a decoded piece. */
const decodedPieceCharacters = 256 * 1024

/**
 * Yields the JSON of a value in pieces, so that its text is never in memory as a whole. Only single strings of the
 * value are.
 */
export function* stringifyInPieces(value: JsonValue): Generator<string, void, undefined> {
  if (sizeBudgetAfter(value, smallValueSize) >= 0) {
    yield JSON.stringify(value)
    return
  }
  for (const piece of stringifyChunked(value, { highWaterMark: jsonPieceCharacters })) {
    if (piece.length <= 2 * jsonPieceCharacters) yield piece
    else yield* splitText(piece, jsonPieceCharacters)
  }
}

/**
 * Subtracts the size of a value from a number of characters; a number or a bracket counts as one character. The result
 * is negative for a larger value, which is visited only in part.
 */
function sizeBudgetAfter(value: JsonValue, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 1
  if (typeof value !== 'object' || value === null) return budget - 1
  let left = budget - 1
  for (const [key, member] of Object.entries(value)) {
    left = sizeBudgetAfter(member, left - key.length)
    if (left < 0) return left
  }
  return left
}

/** Decodes UTF-8 into pieces that end between characters. The decoder keeps incomplete bytes for the next piece. */
export async function* decodeUtf8(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // A byte order mark is part of the content.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of pieces) yield* splitText(decoder.decode(piece, { stream: true }), decodedPieceCharacters)
  yield* splitText(decoder.decode(), decodedPieceCharacters)
}

/** Splits a text into pieces of at most `characters` (2 or more) code units, never within a surrogate pair. */
export function* splitText(text: string, characters: number): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    const end = cutIndex(text, Math.min(start + characters, text.length))
    yield text.slice(start, end)
    start = end
  }
}
