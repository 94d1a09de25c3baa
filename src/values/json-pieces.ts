import { stringifyChunked } from '@discoveryjs/json-ext'
import type { JsonValue } from '../common/json.js'

/** Characters of a piece: enough that pieces cost little, little beside a value. */
const pieceCharacters = 64 * 1024

/**
 * The JSON of a value in pieces of text, so that there is no second whole copy of it; of one string at a time there is, until
 * it has been passed on.
 */
export function* jsonPieces(value: JsonValue): Generator<string, void, undefined> {
  for (const piece of stringifyChunked(value, { highWaterMark: pieceCharacters })) {
    if (piece.length <= 2 * pieceCharacters) yield piece
    else yield* cutText(piece, pieceCharacters)
  }
}

/** Cuts a text into pieces of about so many characters, never through one that takes two code units. */
export function* cutText(text: string, characters: number): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    const end = endOfCharacter(text, start + characters)
    yield text.slice(start, end)
    start = end
  }
}

/** This place, or the next one when it would be in the middle of a character. */
function endOfCharacter(text: string, place: number): number {
  if (place >= text.length) return text.length
  return isHighSurrogate(text.charCodeAt(place - 1)) ? place + 1 : place
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
