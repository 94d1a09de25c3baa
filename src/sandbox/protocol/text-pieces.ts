import { cutIndex } from '../../common/text/text.js'

/**
 * A source delivers text in chunks of any size; the wire carries it in pieces of limited size.
 */

/** Maximum bytes of one UTF-16 code unit in UTF-8. */
const maximumBytesPerCodeUnit = 3

/** Returns the maximum UTF-16 code units of a piece. Its frame then uses at most about a quarter of the frame limit. */
export function maximumPieceLength(frameBytes: number): number {
  return Math.max(2, Math.floor(frameBytes / 4 / maximumBytesPerCodeUnit))
}

export interface TextPiece {
  readonly text: string
  readonly last: boolean
}

/**
 * Splits chunks into pieces of at most `maximumLength` (2 or more) code units, never inside a surrogate pair. Yields
 * the last piece, which may be empty, when the source has ended without an error.
 */
export async function* splitIntoPieces(
  source: AsyncIterable<string>,
  maximumLength: number,
): AsyncGenerator<TextPiece> {
  let buffered = ''
  for await (const chunk of source) {
    buffered += chunk
    let from = 0
    while (buffered.length - from > maximumLength) {
      const end = cutIndex(buffered, from + maximumLength)
      yield { text: buffered.slice(from, end), last: false }
      from = end
    }
    buffered = buffered.slice(from)
  }
  yield { text: buffered, last: true }
}
