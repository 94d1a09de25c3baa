import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { eventIndex, eventText as text, parseEvent } from '../http/event-data.js'

// Servers differ: members that a reply does not need may be missing, null or of another type.

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
    // Replies have these, but requests must not. `function_call` is how older servers send a tool call.
    function_call: json.optional(),
    annotations: json.optional(),
    audio: json.optional(),
  })
  .catchall(json)

const chunk = z.object({
  model: text.optional(),
  choices: z
    .array(
      z.object({
        index: eventIndex.optional(),
        delta: delta.nullish(),
        // Of servers that send the whole message in place of deltas.
        message: delta.nullish().catch(null),
        finish_reason: text.optional(),
      }),
    )
    .nullish(),
  usage: json.optional(),
  error: json.optional(),
})

export type Chunk = z.infer<typeof chunk>
export type Delta = z.infer<typeof delta>
export type ToolCallDelta = z.infer<typeof toolCall>

/** @throws PtcError MODEL_REPLY_INVALID for a value that is not a chunk of a chat completion */
export function parseChunk(value: unknown): Chunk {
  return parseEvent(chunk, value)
}

/** The deltas of the tool calls in a delta. */
export function toolCallsIn({ tool_calls: calls, function_call: call }: Delta): readonly ToolCallDelta[] {
  if (calls && calls.length > 0) return calls
  if (!isJsonObject(call)) return []
  const { name, arguments: added } = call
  // Some servers say with empty texts that there is no call.
  if (!name && !added) return []
  return [{ function: { name: typeof name === 'string' ? name : '', arguments: added ?? '' } }]
}

/** The text in the `content` of a delta: a text, or a list of parts. Models of Mistral that reason send lists. */
export function contentText(content: JsonValue | undefined): { readonly text: string; readonly thinking: string } {
  if (typeof content === 'string') return { text: content, thinking: '' }
  const parts = (Array.isArray(content) ? (content as readonly unknown[]) : [content]).filter(isJsonObject)
  const isThinking = ({ type }: JsonObject): boolean => type === 'thinking'
  return {
    text: textsIn(parts.filter((part) => !isThinking(part))),
    thinking: parts
      .filter(isThinking)
      .map(({ thinking }) => textOf(thinking))
      .join(''),
  }
}

function textOf(thinking: JsonValue | undefined): string {
  if (typeof thinking === 'string') return thinking
  return Array.isArray(thinking) ? textsIn((thinking as readonly unknown[]).filter(isJsonObject)) : ''
}

function textsIn(parts: readonly JsonObject[]): string {
  return parts.map(({ text: said }) => (typeof said === 'string' ? said : '')).join('')
}
