import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { eventIndex, eventText, parseEvent } from '../../http/event-data.js'

/** An item of the output: all its members are kept. */
export interface OutputItem extends JsonObject {
  readonly type: string
}

const text = eventText.optional()
const index = eventIndex.optional()
/** The input is from JSON.parse. */
const json = z.custom<JsonValue>(() => true)

// The input is from JSON.parse.
const item = z.custom<OutputItem>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'not an object with a type',
)

const error = z.looseObject({ code: text, message: text })

const finalResponse = z.object({
  model: text,
  output: z.array(item).nullish(),
  usage: json.optional(),
  /** Some compatible servers complete each response, and say here that it is not complete. */
  status: text,
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
    delta: text,
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

/**
 * Parses one event; undefined for unknown event types, and for those that contribute nothing.
 *
 * @throws PtcError MODEL_REPLY_INVALID for an event of another form
 */
export function parseResponseEvent(value: unknown): ResponseEvent | undefined {
  if (!isJsonObject(value)) return undefined
  const { type, error: problem } = value
  if (type === undefined && isJsonObject(problem)) return { ...value, type: 'error', error: problem }
  return knownTypes.has(type) ? parseEvent(event, value) : undefined
}
