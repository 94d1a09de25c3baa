import { z } from 'zod'
import type { JsonValue } from '../../common/json/json.js'
import { eventIndex, eventText as text, parseEvent } from '../http/event-data.js'

// Servers differ: what a reply can do without may be missing, null or of another type.

/** The input is from JSON.parse. */
const json = z.custom<JsonValue>(() => true)

const toolCall = z
  .object({
    index: eventIndex.optional(),
    id: text.optional(),
    type: text.optional(),
    function: z.object({ name: text.optional(), arguments: json.optional() }).nullish(),
  })
  .catchall(json)

const delta = z
  .object({
    role: text.optional(),
    content: json.optional(),
    refusal: text.optional(),
    tool_calls: z.array(toolCall).nullish(),
    // Replies have these, but requests must not.
    function_call: json.optional(),
    annotations: json.optional(),
    audio: json.optional(),
  })
  .catchall(json)

const chunk = z.object({
  model: text.optional(),
  choices: z
    .array(z.object({ index: eventIndex.optional(), delta: delta.nullish(), finish_reason: text.optional() }))
    .nullish(),
  usage: json.optional(),
  error: json.optional(),
})

export type Chunk = z.infer<typeof chunk>
export type Delta = z.infer<typeof delta>
export type ToolCallDelta = z.infer<typeof toolCall>

/** @throws PtcError MODEL_REPLY_INVALID for what is no chunk of a chat completion */
export function parseChunk(value: unknown): Chunk {
  return parseEvent(chunk, value)
}

/** The text in the `content` of a delta: a text, or a list of parts. Models of Mistral that reason send lists. */
export function contentText(content: JsonValue | undefined): { readonly text: string; readonly thinking: string } {
  if (typeof content === 'string') return { text: content, thinking: '' }
  const parts = z.array(contentPart).safeParse(Array.isArray(content) ? content : [content]).data ?? []
  return {
    text: parts.map(({ type, text: said }) => (type === 'thinking' ? '' : (said ?? ''))).join(''),
    thinking: parts.map(({ type, thinking }) => (type === 'thinking' ? textsIn(thinking) : '')).join(''),
  }
}

const contentPart = z
  .object({ type: text.optional(), text: text.optional(), thinking: z.unknown() })
  .catch({ thinking: undefined })

function textsIn(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  const parts = z.array(contentPart).safeParse(thinking).data ?? []
  return parts.map((part) => part.text ?? '').join('')
}
