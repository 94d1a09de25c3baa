import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import type { UnknownBlock } from '../../common/runs/messages.js'
import { parseEvent, parseEventJson, streamError } from '../http/event-data.js'

// The input is from JSON.parse, so an object with a `type` is a block. All its members are kept.
const block = z.custom<UnknownBlock>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'not an object with a type',
)
const index = z.int().nonnegative()
const tokens = z.int().nonnegative().nullish()
const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
})
const stopReason = z.string().nullish()
const stopSequence = z.string().nullish()
// The input is from JSON.parse.
const edits = z.object({ applied_edits: z.array(z.custom<JsonObject>(isObject)) }).nullish()
const container = z.object({ id: z.string(), expires_at: z.string().nullish() }).nullish()

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const streamEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({
      model: z.string(),
      content: z.array(block),
      stop_reason: stopReason,
      stop_sequence: stopSequence,
      container,
      usage,
    }),
  }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta: block }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: stopReason, stop_sequence: stopSequence, container }),
    usage: usage.nullish(),
    context_management: edits,
  }),
  z.object({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) }),
])

/** The stream events that contribute to a reply. */
export type StreamEvent = z.infer<typeof streamEvent>
export type ReportedUsage = z.infer<typeof usage>
export type ReportedContainer = z.infer<typeof container>

const knownTypes: ReadonlySet<unknown> = new Set(streamEvent.options.map((option) => option.shape.type.value))

/**
 * Parses the data of one event; undefined for unknown event types, which are ignored.
 *
 * @throws PtcError MODEL_STREAM for data that is not an event
 */
export function parseStreamEvent(data: string): StreamEvent | undefined {
  const value = parseEventJson(data)
  if (typeof value !== 'object' || value === null || !('type' in value))
    throw streamError('an event without a type', data)
  if (!knownTypes.has(value.type)) return undefined
  return parseEvent(streamEvent, value, data)
}
