import type { IncomingMessage } from 'node:http'

/** The body of a request; undefined when it has more than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
