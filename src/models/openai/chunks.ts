import { z } from 'zod'
import type { JsonValue } from '../../common/json/json.js'
import { parseEventData } from '../http/event-data.js'

// Servers differ: any member may be missing or null.
const text = z.string().nullish()
const tokens = z.int().nonnegative().nullish()
/** The input is from JSON.parse. */
const json = z.custom<JsonValue>(() => true)

const toolCall = z
  .object({
    index: z.int().nullish(),
    id: text,
    type: text,
    function: z
      .object({ name: text, arguments: z.union([z.string(), z.record(z.string(), json)]).nullish() })
      .nullish(),
  })
  .catchall(json)

const delta = z
  .object({
    role: text,
    content: text,
    refusal: text,
    tool_calls: z.array(toolCall).nullish(),
    // Replies have these, but requests must not.
    function_call: json.optional(),
    annotations: json.optional(),
    audio: json.optional(),
  })
  .catchall(json)

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens, cache_write_tokens: tokens }).nullish(),
})

const chunk = z.object({
  model: text,
  choices: z.array(z.object({ index: z.int().nullish(), delta: delta.nullish(), finish_reason: text })).nullish(),
  usage: usage.nullish(),
  error: json.optional(),
})

export type Chunk = z.infer<typeof chunk>
export type Delta = z.infer<typeof delta>
export type ToolCallDelta = z.infer<typeof toolCall>
export type ReportedUsage = z.infer<typeof usage>

/** @throws PtcError MODEL_STREAM for data that is no chunk of a chat completion */
export function parseChunk(data: string): Chunk {
  return parseEventData(chunk, data)
}
