import type { IncomingMessage } from 'node:http'
import { messageOf, PtcError } from '../common/errors.js'
import { countStructuralBytes } from '../common/json/structural-bytes.js'
import { decodeText } from '../common/text/decode-text.js'
import { truncateEnd } from '../common/text/text.js'
import { HttpError } from './http-error.js'

export interface BodyLimits {
  readonly bytes: number
  /** Bytes outside of strings: parsing and walking them blocks all other requests. */
  readonly structuralBytes: number
  readonly depth: number
}

/**
 * The JSON of a body; `{}` without a body. Its size, structure and depth are limited before it is parsed, so that a
 * schema gets a bounded number of values (invariant 3).
 *
 * @throws PtcError RUN_INPUT_INVALID; HttpError BODY_TOO_LARGE
 */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBody(request, limits.bytes)
  if (bytes.length === 0) return {}
  const { problem } = countStructuralBytes(bytes, { bytes: limits.structuralBytes, depth: limits.depth })
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', `the body ${problem}`)
  const text = decodeText(bytes, 'the body', 'RUN_INPUT_INVALID')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `the body is not JSON: ${messageOf(cause)}`, { cause })
  }
}

/** @throws PtcError RUN_INPUT_INVALID for a compressed body */
export function checkEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new PtcError(
      'RUN_INPUT_INVALID',
      `a body with Content-Encoding ${JSON.stringify(truncateEnd(encoding, 100))} is not accepted`,
      { hint: 'Send it without compression.' },
    )
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  checkEncoding(request)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > maxBytes) throw new HttpError('BODY_TOO_LARGE', `a body has at most ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
