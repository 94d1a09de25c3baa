import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { UnknownBlock } from '../../common/messages.js'

// Whatever JSON.parse gave is JSON; so an object with a `type` is a block, with all the members it came with.
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

const streamEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ model: z.string(), content: z.array(block), stop_reason: stopReason, usage }),
  }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta: block }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: stopReason }),
    usage: usage.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  z.looseObject({ type: z.literal('error'), error: z.looseObject({ type: z.string() }) }),
])

/** The stream events a reply is made of. */
export type StreamEvent = z.infer<typeof streamEvent>
export type ReportedUsage = z.infer<typeof usage>

const known: ReadonlySet<unknown> = new Set(streamEvent.options.map((option) => option.shape.type.value))

/**
 * One event's data; undefined for kinds that came after this was written, which change nothing of the reply.
 *
 * @throws PtcError MODEL_STREAM for data that is no event
 */
export function parseStreamEvent(data: string): StreamEvent | undefined {
  const value = parseJson(data)
  if (typeof value !== 'object' || value === null || !('type' in value)) throw broken('an event without a type', data)
  if (!known.has(value.type)) return undefined
  const parsed = streamEvent.safeParse(value)
  if (!parsed.success) throw broken(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '), data)
  return parsed.data
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw broken('invalid JSON', data)
  }
}

function broken(what: string, data: string): PtcError {
  const hint = 'Usually passes; if not, something between here and the API changes its replies.'
  return new PtcError(
    'MODEL_STREAM',
    `The model's reply can't be read: ${what} in ${JSON.stringify(data.slice(0, 80))}.`,
    {
      hint,
    },
  )
}
