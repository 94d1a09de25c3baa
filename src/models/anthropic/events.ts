import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { UnknownBlock, Usage } from '../../common/agent/messages.js'
import { eventIndex, eventText, parseEvent } from '../http/event-data.js'
import { tokenCount } from '../reply/token-count.js'

// Servers differ: members that a reply does not need may be missing, null or of another type.

// The input is from JSON.parse, so an object with a `type` is a block. All its members are kept.
const block = z.custom<UnknownBlock>(
  (value) => isJsonObject(value) && typeof value['type'] === 'string',
  'not an object with a type',
)
const optionalBlock = z.unknown().transform((value) => block.safeParse(value).data)
const usage = z.unknown().transform(toUsage)
// The input is from JSON.parse.
const edits = z
  .object({ applied_edits: z.array(z.custom<JsonObject>(isJsonObject)) })
  .nullish()
  .catch(null)
const container = z.object({ id: z.string(), expires_at: eventText.optional() }).nullish().catch(null)

const streamEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z
      .object({
        model: eventText.optional(),
        content: z.array(block).nullish(),
        stop_reason: eventText.optional(),
        stop_sequence: eventText.optional(),
        container,
        usage: usage.optional(),
      })
      .nullish(),
  }),
  z.object({ type: z.literal('content_block_start'), index: eventIndex.optional(), content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index: eventIndex.optional(), delta: optionalBlock.optional() }),
  z.object({ type: z.literal('content_block_stop') }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: eventText.optional(), stop_sequence: eventText.optional(), container }).nullish(),
    usage: usage.optional(),
    context_management: edits,
  }),
  z.object({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('error') }),
])

/** The stream events that contribute to a reply. */
export type StreamEvent = z.infer<typeof streamEvent>
export type ReportedUsage = Partial<Usage>
export type ReportedContainer = z.infer<typeof container>

const knownTypes: ReadonlySet<unknown> = new Set(streamEvent.options.map((option) => option.shape.type.value))

/**
 * Parses one event; undefined for unknown event types, which are ignored.
 *
 * @throws PtcError MODEL_REPLY_INVALID for an event of another form
 */
export function parseStreamEvent(value: unknown): StreamEvent | undefined {
  if (!isJsonObject(value)) return undefined
  const { type, error } = value
  if (type === undefined && isJsonObject(error)) return { ...value, type: 'error' }
  return knownTypes.has(type) ? parseEvent(streamEvent, value) : undefined
}

/** The reported counts that are numbers. */
function toUsage(value: unknown): ReportedUsage {
  if (!isJsonObject(value)) return {}
  const counts = {
    inputTokens: tokenCount(value['input_tokens']),
    outputTokens: tokenCount(value['output_tokens']),
    cacheReadTokens: tokenCount(value['cache_read_input_tokens']),
    cacheWriteTokens: tokenCount(value['cache_creation_input_tokens']),
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
}
