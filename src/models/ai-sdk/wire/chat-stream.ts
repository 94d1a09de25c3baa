import { z } from 'zod'
import { defined } from '../../../common/defined.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { eventIndex, eventText as text, parseEvent } from '../../http/event-data.js'
import { invalidReply } from '../../reply/invalid-reply.js'
import { inputText } from '../../reply/tool-input.js'
import { cutReply, type EventStream, toCounts } from './event-stream.js'
import { addToolCallDelta, type ToolCallDraft, withoutNull } from './tool-calls.js'

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

const chunk = z
  .object({
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
  })
  .catchall(json)

type Delta = z.infer<typeof delta>
export type ToolCallDelta = z.infer<typeof toolCall>

/** The name of a call whose server gave it none. No tool has this name, so the model gets an error. */
const unnamed = 'unnamed'

/** Turns the chunks of any server for chat completions into those of OpenAI, which the packages of the AI SDK accept. */
export class ChatStream implements EventStream {
  readonly isComplete = false
  #hasBegun = false
  /** The server sends messages in place of deltas. */
  #hasMessages = false
  #hasText = false
  #isFinished = false
  #calls: readonly ToolCallDraft[] = []
  #extras: JsonObject = {}
  readonly #annotations: JsonValue[] = []

  /** The annotations of the text. Packages for vendors turn them into sources; that for compatible servers does not. */
  get annotations(): readonly JsonValue[] {
    return this.#annotations
  }

  /** The members of the message other than its text and its calls, such as `reasoning_content`. */
  get extras(): JsonObject {
    return this.#extras
  }

  /** @throws PtcError MODEL_REPLY_INVALID for a value that is not a chunk of a chat completion */
  add(value: unknown): readonly JsonObject[] {
    const { choices, usage, ...members } = parseEvent(chunk, value)
    const choice = choices?.find(({ index }) => (index ?? 0) === 0)
    return [
      {
        ...withoutNull(members),
        ...(isJsonObject(usage) && { usage: toCounts(usage) }),
        choices: choice ? [this.#toChoice(choice)] : [],
      },
    ]
  }

  /** @throws PtcError MODEL_STREAM for an incomplete reply, MODEL_REPLY_INVALID for one without anything */
  end(isEnded: boolean): readonly JsonObject[] {
    // The server often gives the same again.
    if (isEnded && !this.#hasBegun && !this.#isFinished) throw invalidReply('it has no choice')
    if (!isEnded && !this.#isFinished) throw cutReply()
    const calls = this.#calls.flatMap(({ name }, index) =>
      name === '' ? [{ index, function: { name: unnamed } }] : [],
    )
    return [
      ...(calls.length > 0 ? [toChunk({ delta: { tool_calls: calls }, finish_reason: null })] : []),
      ...(this.#isFinished ? [] : [toChunk({ delta: {}, finish_reason: 'stop' })]),
    ]
  }

  #toChoice(choice: NonNullable<z.infer<typeof chunk>['choices']>[number]): JsonObject {
    const { delta: added, message, finish_reason: reason } = choice
    // A message beside deltas repeats them.
    this.#hasMessages ||= !added && message != null && !this.#hasText && this.#calls.length === 0
    const said = added ?? (this.#hasMessages ? message : undefined)
    this.#isFinished ||= Boolean(reason)
    return { index: 0, delta: said ? this.#toDelta(said) : {}, finish_reason: reason || null }
  }

  #toDelta(given: Delta): JsonObject {
    const { role: _, content, refusal, tool_calls: __, function_call: ___, annotations, audio, ...extras } = given
    const said = toContent(content)
    this.#hasBegun = true
    // A refusal beside a text is no part of the reply.
    const refused = this.#hasText || said !== undefined ? undefined : refusal
    this.#hasText ||= said !== undefined && (typeof said === 'string' || said.some(({ type }) => type === 'text'))
    for (const [name, value] of Object.entries(withoutNull(extras))) {
      this.#extras = { ...this.#extras, [name]: append(this.#extras[name], value) }
    }
    if (Array.isArray(annotations)) this.#annotations.push(...(annotations as readonly JsonValue[]))
    const calls = toolCallsIn(given).flatMap((call) => this.#toCalls(call))
    return {
      ...withoutNull({ ...extras, annotations: annotations ?? null, audio: audio ?? null }),
      role: 'assistant',
      ...defined({ content: said }),
      ...(refused && { refusal: refused }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
  }

  /** The delta with a number that no other call has. */
  #toCalls(given: ToolCallDelta): readonly JsonObject[] {
    const before = this.#calls
    this.#calls = addToolCallDelta(before, given)
    const index = this.#calls.findLastIndex((call, each) => call !== before[each])
    const call = this.#calls[index]
    if (call === undefined) return []
    const draft = before[index]
    const { name, extras } = call
    return [
      {
        index,
        ...(!draft?.id && call.id !== '' && { id: call.id }),
        type: 'function',
        function: { ...(!draft?.name && name !== '' && { name }), arguments: inputText(given.function?.arguments) },
        // The AI SDK keeps one member of a call: its signature. So all other members are sent as this text.
        ...(Object.keys(extras).length > Object.keys(draft?.extras ?? {}).length && {
          extra_content: { google: { thought_signature: JSON.stringify(extras) } },
        }),
      },
    ]
  }
}

function toChunk(choice: JsonObject): JsonObject {
  return { choices: [{ index: 0, ...choice }] }
}

/** The deltas of the tool calls in a delta. */
function toolCallsIn({ tool_calls: calls, function_call: call }: Delta): readonly ToolCallDelta[] {
  if (calls && calls.length > 0) return calls
  if (!isJsonObject(call)) return []
  const { name, arguments: added } = call
  // Some servers say with empty texts that there is no call.
  if (!name && !added) return []
  return [{ function: { name: typeof name === 'string' ? name : '', arguments: added ?? '' } }]
}

/** A text, or a list of texts and thinking, which models of Mistral that reason send. Undefined without either. */
function toContent(content: JsonValue | undefined): string | readonly JsonObject[] | undefined {
  if (typeof content === 'string') return content || undefined
  const parts = (Array.isArray(content) ? (content as readonly unknown[]) : [content]).filter(isJsonObject)
  const known = parts.flatMap(({ type, text: said, thinking }): readonly JsonObject[] => {
    if (type !== 'thinking') return typeof said === 'string' ? [{ type: 'text', text: said }] : []
    const thoughts = typeof thinking === 'string' ? thinking : textsIn(thinking)
    return [{ type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }]
  })
  return known.length === 0 ? undefined : known
}

function textsIn(parts: JsonValue | undefined): string {
  if (!Array.isArray(parts)) return ''
  const objects = (parts as readonly unknown[]).filter(isJsonObject)
  return objects.map(({ text: said }) => (typeof said === 'string' ? said : '')).join('')
}

/** Strings and lists arrive in pieces. */
function append(value: JsonValue | undefined, added: JsonValue): JsonValue {
  if (typeof value === 'string' && typeof added === 'string') return value + added
  if (Array.isArray(value) && Array.isArray(added)) return [...value, ...added] as readonly JsonValue[]
  return added
}
