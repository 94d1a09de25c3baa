import type { StreamedReply } from '../reply.js'
import { dataOf, type ReadOptions, report, toApiError } from '../stream.js'
import { jsonEvents, streamEnd } from '../../http/event-data.js'
import { parseResponseEvent } from './events.js'
import { ResponseBuilder } from './reply.js'

/**
 * Reads a complete reply from a stream of the responses API.
 *
 * @throws PtcError MODEL_STREAM, MODEL_REPLY_INVALID; APIError for a failed response; errors of the connection
 */
export async function readResponse(response: Response, options: ReadOptions): Promise<StreamedReply> {
  const reply = new ResponseBuilder(options)
  for await (const value of jsonEvents(dataOf(response, options))) {
    // Some compatible servers end these streams like those of chat completions.
    if (value === streamEnd) return reply.finish(true)
    const event = parseResponseEvent(value)
    if (event === undefined) continue
    if (event.type === 'error') throw toApiError(event.error ?? event, response)
    if (event.type === 'response.failed') throw toApiError(event.response.error ?? 'the response failed', response)
    report(reply, reply.add(event), options)
    if (reply.isComplete) break
  }
  return reply.finish(false)
}
