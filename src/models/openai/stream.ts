import { APIError } from 'openai'
import { jsonEvents, noEventStream, streamEnd } from '../http/event-data.js'
import type { TurnOptions } from '../provider.js'
import { parseChunk } from './chunks.js'
import { eventData } from './event-data.js'
import { ReplyBuilder, type StreamedReply } from './reply.js'

export interface ReadOptions extends Pick<TurnOptions, 'onProgress' | 'onDelta'> {
  /** Name of the provider. */
  readonly provider: string
  /** The model of the request. */
  readonly model: string
  /** Called for every chunk of bytes. */
  readonly onActivity: () => void
}

/**
 * Reads a complete reply from a streaming response.
 *
 * @throws PtcError MODEL_STREAM, MODEL_REPLY_INVALID; APIError for an error within the stream; errors of the connection
 */
export async function readReply(response: Response, options: ReadOptions): Promise<StreamedReply> {
  const reply = new ReplyBuilder(options.provider)
  for await (const value of jsonEvents(dataOf(response, options))) {
    if (value === streamEnd) return reply.finish(true)
    const chunk = parseChunk(value)
    if (chunk.error != null) throw toApiError(chunk.error, response)
    report(reply, reply.add(chunk), options)
  }
  return reply.finish(false)
}

/**
 * The data of the events of a streaming response.
 *
 * @throws PtcError MODEL_REPLY_INVALID for a response that is not a stream of events
 */
export async function* dataOf(
  { headers, body }: Response,
  { onActivity }: Pick<ReadOptions, 'onActivity'>,
): AsyncGenerator<string, void, undefined> {
  const contentType = headers.get('content-type') ?? 'nothing'
  if (body === null || !contentType.includes('text/event-stream')) {
    await body?.cancel()
    const hint = 'Check that the base URL leads to an OpenAI-compatible API; most end with /v1.'
    throw noEventStream(contentType, hint)
  }
  yield* eventData(body, onActivity)
}

/** Reports the progress of a reply after an event. */
export function report(
  { progress }: Pick<ReplyBuilder, 'progress'>,
  deltas: ReturnType<ReplyBuilder['add']>,
  { onProgress, onDelta }: ReadOptions,
): void {
  onProgress(progress)
  if (onDelta) deltas.forEach(onDelta)
}

/** An error within a stream. */
export function toApiError(error: unknown, { headers }: Response): APIError {
  const body = typeof error === 'object' && error !== null ? error : { message: String(error) }
  return new APIError(undefined, body, undefined, headers)
}
