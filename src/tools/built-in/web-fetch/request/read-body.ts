import type { IncomingMessage } from 'node:http'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { ToolError } from '../../../tool-error.js'

const decoders: Readonly<Record<string, () => Transform>> = {
  '': () => new PassThrough(),
  identity: () => new PassThrough(),
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
}

/**
 * Reads a body to its end, and ends the connection. Counts what arrives and what is decompressed while both stream, so
 * that a body over the limit costs at most the limit.
 *
 * @throws ToolError for a body over the limit, and in an encoding that was not asked for; errors of network and zlib
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new ToolError(`the page has over ${maxBytes} bytes, which is the limit`)
  try {
    const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase()
    const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined
    if (decoder === undefined) throw new ToolError(`the page is in the encoding ${JSON.stringify(encoding)}`)
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
    const chunks: Buffer[] = []
    await pipeline(
      response,
      limitBytes(maxBytes, tooLarge),
      decoder(),
      limitBytes(maxBytes, tooLarge),
      async (body) => {
        for await (const chunk of body) chunks.push(chunk)
      },
    )
    return Buffer.concat(chunks)
  } finally {
    response.destroy()
  }
}

function limitBytes(maxBytes: number, tooLarge: () => Error) {
  return async function* (chunks: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
    let bytes = 0
    for await (const chunk of chunks) {
      // No stream here has an encoding: its chunks are bytes.
      bytes += (chunk as Buffer).length
      if (bytes > maxBytes) throw tooLarge()
      yield chunk as Buffer
    }
  }
}
