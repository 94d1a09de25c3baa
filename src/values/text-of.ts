import { cutText } from './json-pieces.js'

const pieceCharacters = 256 * 1024

/** UTF-8 as text, in pieces that end between characters. A decoder keeps what is not whole yet for the next piece. */
export async function* textOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // The bytes are ours to pass on as they are: a byte order mark is part of them.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of pieces) yield* cutText(decoder.decode(piece, { stream: true }), pieceCharacters)
  yield* cutText(decoder.decode(), pieceCharacters)
}
