/** Bytes that one UTF-16 unit of text takes in a frame at most: what JSON must escape, `\u0000` for one. */
const bytesPerUnit = 6

/** UTF-16 units of one piece, so that its frame is at most about a quarter of what a frame may be. */
export function pieceUnits(frameBytes: number): number {
  return Math.max(2, Math.floor(frameBytes / 4 / bytesPerUnit))
}

export interface TextPiece {
  readonly text: string
  readonly last: boolean
}

/**
 * Cuts text that comes in chunks of any size into pieces of at most `units` (2 or more), never inside a surrogate pair.
 * The last piece, maybe an empty one, comes only once the source has ended without an error.
 */
export async function* piecesOf(source: AsyncIterable<string>, units: number): AsyncGenerator<TextPiece> {
  let held = ''
  for await (const chunk of source) {
    held += chunk
    let from = 0
    while (held.length - from > units) {
      const end = cutBefore(held, from + units)
      yield { text: held.slice(from, end), last: false }
      from = end
    }
    held = held.slice(from)
  }
  yield { text: held, last: true }
}

/** At `at`, or one before it when that would part a pair. */
function cutBefore(text: string, at: number): number {
  return isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
