import type { IncomingMessage } from 'node:http'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

export interface BoundedBody {
  readonly body: Buffer
  /** The body was longer, and its rest was not read. */
  readonly isCut: boolean
}

/** The body is in an encoding that nobody asked for. */
export class UnknownEncodingError extends Error {
  override readonly name = 'UnknownEncodingError'
}

/**
 * Reads a body up to a bound of its bytes, as they arrive and decompressed, while it streams. The connection ends at the
 * bound.
 *
 * @throws UnknownEncodingError; errors of the network and of the decompression
 */
export async function readBounded(response: IncomingMessage, maxBytes: number): Promise<BoundedBody> {
  const limit = { rest: maxBytes, isCut: false }
  const chunks: Uint8Array[] = []
  let rest = maxBytes
  for await (const chunk of decompressed(response, limit) as AsyncIterable<Uint8Array>) {
    if (rest > 0) chunks.push(chunk.subarray(0, rest))
    if (chunk.length > rest) limit.isCut = true
    rest -= chunk.length
    if (limit.isCut && rest <= 0) break
  }
  // Without effect on a response that was read to its end.
  if (limit.isCut) response.destroy()
  return { body: Buffer.concat(chunks), isCut: limit.isCut }
}

interface Limit {
  rest: number
  isCut: boolean
}

function decompressed(response: IncomingMessage, limit: Limit): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase()
  const make = decompressors.get(encoding)
  if (make === undefined) throw new UnknownEncodingError(`the encoding ${JSON.stringify(encoding.slice(0, 50))}`)
  // An error of any of them ends the iteration of the result.
  return pipeline(
    response,
    (chunks: AsyncIterable<Buffer>) => upTo(chunks, limit),
    make(),
    () => undefined,
  )
}

/** Ends at the limit, as if the body were no longer. */
async function* upTo(chunks: AsyncIterable<Buffer>, limit: Limit): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (chunk.length > limit.rest) limit.isCut = true
    if (limit.rest > 0) yield chunk.subarray(0, limit.rest)
    if (limit.isCut) return
    limit.rest -= chunk.length
  }
}

/** An empty body has no header of the encoding. A connection that ends too early is an error of its own. */
const lenient = { finishFlush: constants.Z_SYNC_FLUSH }

const decompressors: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['', () => new PassThrough()],
  ['identity', () => new PassThrough()],
  ['gzip', () => createGunzip(lenient)],
  ['x-gzip', () => createGunzip(lenient)],
  ['deflate', () => createInflate(lenient)],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
] as const)

/** The content encodings that {@link readBounded} reads, for the header. */
export const acceptedEncodings = 'gzip, deflate, br'
