import { APIError } from 'openai'
import { PtcError } from '../../common/errors.js'
import type { TurnOptions } from '../provider.js'
import { parseChunk } from './chunks.js'
import { eventData } from './event-data.js'
import { ReplyBuilder, type StreamedReply } from './reply.js'

interface ReadOptions extends Pick<TurnOptions, 'onProgress' | 'onDelta'> {
  /** Name of the provider. */
  readonly provider: string
  /** Called for every chunk of bytes. */
  readonly onActivity: () => void
}

/**
 * Reads a whole reply from a streaming response.
 *
 * @throws PtcError MODEL_STREAM; APIError for an error within the stream; errors of the connection
 */
export async function readReply(
  response: Response,
  { provider, onActivity, onProgress, onDelta }: ReadOptions,
): Promise<StreamedReply> {
  const contentType = response.headers.get('content-type') ?? 'nothing'
  if (response.body === null || !contentType.includes('text/event-stream')) {
    await response.body?.cancel()
    const message = `The model API answered with ${contentType} in place of an event stream.`
    const hint = 'Check that the base URL leads to an OpenAI-compatible API; most end with /v1.'
    throw new PtcError('MODEL_STREAM', message, { hint })
  }
  const reply = new ReplyBuilder(provider)
  for await (const data of eventData(response.body, onActivity)) {
    if (data.trim() === '') continue
    if (data.trim() === '[DONE]') break
    const chunk = parseChunk(data)
    if (chunk.error != null) throw new APIError(undefined, toError(chunk.error), undefined, response.headers)
    const deltas = reply.add(chunk)
    onProgress(reply.progress)
    if (onDelta) deltas.forEach(onDelta)
  }
  return reply.finish()
}

function toError(error: unknown): object {
  return typeof error === 'object' && error !== null ? error : { message: String(error) }
}
