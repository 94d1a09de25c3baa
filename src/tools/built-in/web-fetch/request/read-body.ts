import type { IncomingMessage } from 'node:http'
import { readBounded, UnknownEncodingError } from '../../../network/read-response.js'
import { ToolError } from '../../../tool-error.js'

/**
 * Reads a body to its end, and ends the connection. A body over the limit costs at most the limit.
 *
 * @throws ToolError for a body over the limit, and in an encoding that was not asked for; errors of network and zlib
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new ToolError(`the page has over ${maxBytes} bytes, which is the limit`)
  try {
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
    const { body, isCut } = await readBounded(response, maxBytes)
    if (isCut) throw tooLarge()
    return body
  } catch (thrown) {
    if (thrown instanceof UnknownEncodingError) throw new ToolError(`the page is in ${thrown.message}`)
    throw thrown
  } finally {
    response.destroy()
  }
}
