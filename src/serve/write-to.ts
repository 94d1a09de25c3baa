import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { withTimeLimit } from '../common/async/abort.js'

/** A client that reads, or sends, nothing for this long is disconnected. */
export const maxStallMs = 60_000

/**
 * Writes data to a response. Waits for a slow client (invariant 5).
 *
 * @param signal aborted when the client has left, or the server closes
 * @throws the signal's reason; an error for a client that does not read
 */
export async function writeTo(response: ServerResponse, data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (response.write(data)) return
  await withTimeLimit(signal, maxStallMs, (limit) => once(response, 'drain', { signal: limit }))
}
