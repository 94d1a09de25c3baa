import { z } from 'zod'
import type { JsonObject } from '../../../common/json/json.js'
import { parseEventData } from '../../http/event-data.js'

/** An item of the output: all its members are kept. */
export interface OutputItem extends JsonObject {
  readonly type: string
}

const text = z.string().nullish()
const tokens = z.int().nonnegative().nullish()
const index = z.int().nonnegative()

// The input is from JSON.parse.
const item = z.custom<OutputItem>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'not an object with a type',
)

const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  input_tokens_details: z.object({ cached_tokens: tokens, cache_write_tokens: tokens }).nullish(),
})

const error = z.looseObject({ code: text, message: text })

const finalResponse = z.object({
  model: text,
  output: z.array(item).nullish(),
  usage: usage.nullish(),
  incomplete_details: z.object({ reason: text }).nullish(),
  error: error.nullish(),
})

const event = z.discriminatedUnion('type', [
  z.object({
    type: z.literal(['response.output_item.added', 'response.output_item.done']),
    output_index: index,
    item,
  }),
  z.object({
    type: z.literal([
      'response.output_text.delta',
      'response.refusal.delta',
      'response.function_call_arguments.delta',
      'response.reasoning_summary_text.delta',
      'response.reasoning_text.delta',
    ]),
    output_index: index,
    delta: z.string(),
  }),
  z.object({
    type: z.literal(['response.completed', 'response.incomplete', 'response.failed']),
    response: finalResponse,
  }),
  // The error is the event itself, or its member.
  z.looseObject({ type: z.literal('error'), error: error.nullish() }),
])

/** The events of a streamed response that contribute to a reply. */
export type ResponseEvent = z.infer<typeof event>
export type FinalResponse = z.infer<typeof finalResponse>

const knownTypes: ReadonlySet<unknown> = new Set(event.options.flatMap((option) => [...option.shape.type.values]))
const anyEvent = z.looseObject({ type: z.string() })

/**
 * Parses the data of one event; undefined for event types that contribute nothing, or are unknown.
 *
 * @throws PtcError MODEL_STREAM for data that is no event
 */
export function parseEvent(data: string): ResponseEvent | undefined {
  const { type } = parseEventData(anyEvent, data)
  return knownTypes.has(type) ? parseEventData(event, data) : undefined
}
