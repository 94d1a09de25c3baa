import { APIError } from 'openai'
import { PtcError } from '../../common/errors.js'
import type { TurnOptions } from '../provider.js'
import { parseChunk } from './chunks.js'
import { eventData } from './event-data.js'
import { ReplyBuilder, type StreamedReply } from './reply.js'

export interface ReadOptions extends Pick<TurnOptions, 'onProgress' | 'onDelta'> {
  /** Name of the provider. */
  readonly provider: string
  /** The model that was asked. */
  readonly model: string
  /** Called for every chunk of bytes. */
  readonly onActivity: () => void
}

/**
 * Reads a whole reply from a streaming response.
 *
 * @throws PtcError MODEL_STREAM; APIError for an error within the stream; errors of the connection
 */
export async function readReply(response: Response, options: ReadOptions): Promise<StreamedReply> {
  const reply = new ReplyBuilder(options.provider)
  for await (const data of dataOf(response, options)) {
    if (data === '[DONE]') break
    const chunk = parseChunk(data)
    if (chunk.error != null) throw toApiError(chunk.error, response)
    report(reply, reply.add(chunk), options)
  }
  return reply.finish()
}

/**
 * The data of the events of a streaming response.
 *
 * @throws PtcError MODEL_STREAM for a response that is no stream of events
 */
export async function* dataOf(
  { headers, body }: Response,
  { onActivity }: Pick<ReadOptions, 'onActivity'>,
): AsyncGenerator<string, void, undefined> {
  const contentType = headers.get('content-type') ?? 'nothing'
  if (body === null || !contentType.includes('text/event-stream')) {
    await body?.cancel()
    const message = `The model API answered with ${contentType} in place of an event stream.`
    const hint = 'Check that the base URL leads to an OpenAI-compatible API; most end with /v1.'
    throw new PtcError('MODEL_STREAM', message, { hint })
  }
  for await (const data of eventData(body, onActivity)) if (data.trim() !== '') yield data.trim()
}

/** Reports what an event has added to a reply. */
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
