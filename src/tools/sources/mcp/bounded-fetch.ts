import { maxMessageBytes } from './message-reader.js'

/**
 * Returns a `fetch` for a server that may send a body without an end. A stream of events may be open for days: its limit
 * is that of one event, which ends with an empty line.
 *
 * @param onTooLarge ends the connection: the SDK would wait for the rest of the body
 */
export function boundedFetch(
  onTooLarge: (error: Error) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => boundBody(await fetch(url, init), onTooLarge)
}

function boundBody(response: Response, onTooLarge: (error: Error) => void): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let bytes = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes = isStream ? bytesAfterEvent(bytes, chunk) : bytes + chunk.length
      if (bytes <= maxMessageBytes) return controller.enqueue(chunk)
      const error = new Error(`the server sent a message of over ${maxMessageBytes} bytes`)
      controller.error(error)
      onTooLarge(error)
    },
  })
  const { status, statusText, headers } = response
  const bounded = new Response(response.body.pipeThrough(limit), { status, statusText, headers })
  // The transport resolves redirects against it.
  Object.defineProperty(bounded, 'url', { value: response.url })
  return bounded
}

const lineFeed = 10
const carriageReturn = 13

/** The bytes of the event that has not ended, at the end of the chunk. */
function bytesAfterEvent(before: number, chunk: Uint8Array): number {
  const end = lastEmptyLine(chunk)
  return end === -1 ? before + chunk.length : chunk.length - end
}

/** The index after the last empty line of the chunk; -1 without one. */
function lastEmptyLine(chunk: Uint8Array): number {
  for (let index = chunk.length - 1; index > 0; index--) {
    if (chunk[index] !== lineFeed && chunk[index] !== carriageReturn) continue
    const previous = chunk[index - 1] === carriageReturn && chunk[index] === lineFeed ? index - 2 : index - 1
    if (previous >= 0 && (chunk[previous] === lineFeed || chunk[previous] === carriageReturn)) return index + 1
  }
  return -1
}
