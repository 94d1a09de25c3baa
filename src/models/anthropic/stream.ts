import { APIError } from '@anthropic-ai/sdk'
import { Stream } from '@anthropic-ai/sdk/streaming'
import type { TurnOptions } from '../provider.js'
import { jsonEvents, noEventStream } from '../http/event-data.js'
import { parseStreamEvent } from './events.js'
import { ReplyBuilder, type StreamedReply } from './reply.js'

interface ReadOptions extends Pick<TurnOptions, 'onProgress' | 'onDelta'> {
  /** Called for every chunk of bytes. */
  readonly onActivity: () => void
}

/**
 * Reads a complete reply from a streaming response. It does not use the SDK's accumulator, which drops pings (they show
 * that the connection is alive) and unknown deltas, and accepts a stream that ends early.
 *
 * @throws PtcError MODEL_STREAM, MODEL_REPLY_INVALID; APIError for an `error` event; errors of the connection
 */
export async function readReply(
  response: Response,
  { onActivity, onProgress, onDelta }: ReadOptions,
): Promise<StreamedReply> {
  const contentType = response.headers.get('content-type') ?? 'nothing'
  if (response.body === null || !contentType.includes('text/event-stream')) {
    await response.body?.cancel()
    throw noEventStream(contentType, 'Check that the base URL leads to the Messages API.')
  }
  const reply = new ReplyBuilder()
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        onActivity()
        controller.enqueue(chunk)
      },
    }),
  )
  const events = Stream.rawEvents(new Response(watched))
  for await (const value of jsonEvents(dataOf(events))) {
    const event = parseStreamEvent(value)
    if (event?.type === 'error') throw new APIError(undefined, event, undefined, response.headers)
    const delta = event && reply.add(event)
    onProgress(reply.progress)
    if (delta) onDelta?.(delta)
    if (reply.complete) break
  }
  return reply.finish()
}

async function* dataOf(events: AsyncIterable<{ readonly data: string }>): AsyncGenerator<string, void, undefined> {
  for await (const { data } of events) yield data
}
