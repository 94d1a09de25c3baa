import type { IncomingMessage } from 'node:http'
import { PtcError } from '../common/errors.js'
import { truncateEnd } from '../common/text/text.js'

/**
 * The body of a request; undefined when it has more than `maxBytes`.
 *
 * @throws PtcError RUN_INPUT_INVALID when it is compressed
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new PtcError(
      'RUN_INPUT_INVALID',
      `a body with Content-Encoding ${JSON.stringify(truncateEnd(encoding, 100))} is not accepted`,
      { hint: 'Send it without compression.' },
    )
  }
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > maxBytes) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
