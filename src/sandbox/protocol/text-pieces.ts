/**
 * A source delivers UTF-8 in chunks of any size; the wire carries it in pieces of limited size and of whole characters.
 */

export interface TextPiece {
  readonly text: Uint8Array
  readonly last: boolean
}

/** Chunks are joined up to this part of the maximum: a frame for each small chunk would cost more. */
const minimumPart = 1 / 8

/**
 * Splits chunks into pieces of at most `maximumBytes` (4 or more), never inside a character. A large chunk is not
 * copied. Yields the last piece, which may be empty, when the source has ended without an error. Bytes that are not
 * UTF-8 are yielded, too.
 */
export async function* splitIntoPieces(
  source: AsyncIterable<Uint8Array>,
  maximumBytes: number,
): AsyncGenerator<TextPiece> {
  let chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    // Only now it is known that these chunks are not the last ones.
    if (bytes >= maximumBytes * minimumPart) {
      const joined = join(chunks)
      const end = characterEnd(joined, bytes)
      for (const text of split(joined.subarray(0, end), maximumBytes)) yield { text, last: false }
      chunks = [joined.subarray(end)]
      bytes -= end
    }
    chunks.push(chunk)
    bytes += chunk.length
  }
  const pieces = [...split(join(chunks), maximumBytes)]
  const last = pieces.pop() ?? new Uint8Array()
  for (const text of pieces) yield { text, last: false }
  yield { text: last, last: true }
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = chunks.filter((chunk) => chunk.length > 0)
  return others.length === 0 ? first : Buffer.concat([first, ...others])
}

function* split(text: Uint8Array, maximumBytes: number): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < text.length;) {
    const limit = start + maximumBytes
    // The text may end within a character when it is not UTF-8.
    const end = limit < text.length ? characterEnd(text, limit) : text.length
    yield text.subarray(start, end)
    start = end
  }
}

/** Returns the end of the last character that is complete before `end`. Is `end` for bytes that are not UTF-8. */
function characterEnd(text: Uint8Array, end: number): number {
  for (let start = end - 1; start >= Math.max(0, end - 3); start -= 1) {
    const byte = text[start] ?? 0
    const isContinuation = byte >= 0x80 && byte < 0xc0
    if (!isContinuation) return start + characterBytes(byte) > end ? start : end
  }
  return end
}

/** Returns the bytes of a character by its first one. */
function characterBytes(first: number): number {
  if (first < 0xc0) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
