import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import type { ModelReply, StopReason, Usage } from '../../common/agent/messages.js'
import { executeCodeTool } from '../../common/names.js'
import { zeroUsage } from '../../common/run/runs.js'
import { CodeDeltas } from '../code-deltas.js'
import { invalidReply } from '../invalid-reply.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../provider.js'
import { isTruncating, toStopReason } from '../stop-reason.js'
import { tokenCount } from '../token-count.js'
import { type Chunk, contentText, type Delta, type ToolCallDelta, toolCallsIn } from './chunks.js'
import { toExtrasBlock } from './message-extras.js'
import { addToolCallDelta, toToolUse, type ToolCallDraft, withoutNull } from './tool-calls.js'

/** The parts of a reply that its stream contains. */
export type StreamedReply = Pick<ModelReply, 'content' | 'stopReason' | 'usage'> & {
  /** Undefined when the server does not return the model. */
  readonly model: string | undefined
}

/** Builds one reply from the chunks of a chat completion. */
export class ReplyBuilder {
  readonly #provider: string
  #model: string | undefined
  #hasBegun = false
  /** The server sends messages in place of deltas. */
  #hasMessages = false
  #text = ''
  #refusal = ''
  #calls: readonly ToolCallDraft[] = []
  #extras: JsonObject = {}
  #finishReason: string | undefined
  #usage: Usage = zeroUsage
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0
  /** Deltas of the code in tool calls, by position. */
  readonly #code = new Map<number, CodeDeltas>()

  /** @param provider name of the provider */
  constructor(provider: string) {
    this.#provider = provider
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  /** @returns the text and code that the chunk adds */
  add({ model, choices, usage }: Chunk): readonly ModelDelta[] {
    this.#model = model || this.#model
    // Totals so far: some servers report them with every chunk.
    if (isJsonObject(usage)) this.#usage = toUsage(usage)
    const deltas: ModelDelta[] = []
    for (const { index, delta, message, finish_reason } of choices ?? []) {
      if ((index ?? 0) !== 0) continue
      // A message beside deltas repeats them.
      this.#hasMessages ||= !delta && message != null && this.#text + this.#refusal === '' && this.#calls.length === 0
      const said = delta ?? (this.#hasMessages ? message : undefined)
      if (said) deltas.push(...this.#addDelta(said))
      this.#finishReason = finish_reason || this.#finishReason
    }
    return deltas
  }

  /**
   * @param isEnded the server has said that the stream ends here: then the reason may be missing
   * @throws PtcError MODEL_STREAM for an incomplete reply, MODEL_REPLY_INVALID for one without anything, MODEL_SERVER
   *   when the server gave up
   */
  finish(isEnded: boolean): StreamedReply {
    const reason = this.#finishReason ?? (isEnded && this.#hasBegun ? 'stop' : undefined)
    // The server often gives the same again.
    if (reason === undefined && isEnded) throw invalidReply('it has no choice')
    if (reason === undefined) throw cutReply()
    const stopReason = toStopReason(reason)
    const uses = this.#calls.map((draft) => toToolUse(draft, isTruncating(stopReason)))
    const toolCalls = this.#calls.some(({ extras }) => Object.keys(extras).length > 0)
      ? this.#calls.map(({ extras }) => extras)
      : []
    const text = this.#text || this.#refusal
    return {
      model: this.#model,
      content: [
        ...toExtrasBlock(this.#provider, { message: this.#extras, toolCalls }),
        ...(text.trim() === '' ? [] : [{ type: 'text', text } as const]),
        ...uses,
      ],
      stopReason: this.#stopReason(stopReason, uses.length > 0),
      usage: this.#usage,
    }
  }

  #addDelta(delta: Delta): readonly ModelDelta[] {
    const { role: _, function_call: __, tool_calls: ___, annotations: ____, audio: _____, ...said } = delta
    const { content, refusal, ...extras } = said
    const { text: added, thinking } = contentText(content)
    this.#hasBegun = true
    this.#text += added
    this.#refusal += refusal ?? ''
    this.#outputCharacters += added.length + thinking.length + (refusal ?? '').length
    if (thinking) this.#phase = 'thinking'
    if (added || refusal) this.#phase = 'text'
    for (const [name, value] of Object.entries(withoutNull(extras))) {
      this.#extras = { ...this.#extras, [name]: append(this.#extras[name], value) }
      if (typeof value !== 'string' || value === '') continue
      this.#phase = 'thinking'
      this.#outputCharacters += value.length
    }
    // A refusal beside a text is no part of the reply.
    const text = added || (this.#text === '' ? (refusal ?? '') : '')
    const code = toolCallsIn(delta).flatMap((call) => this.#addToolCall(call))
    return text === '' ? code : [{ type: 'text', block: 0, text }, ...code]
  }

  #addToolCall(delta: ToolCallDelta): readonly ModelDelta[] {
    const before = this.#calls
    this.#calls = addToolCallDelta(before, delta)
    const position = this.#calls.findLastIndex((call, each) => call !== before[each])
    const call = this.#calls[position]
    if (call === undefined) return []
    const added = call.arguments.slice(before[position]?.arguments.length ?? 0)
    this.#outputCharacters += added.length
    this.#phase = call.name === executeCodeTool ? 'code' : 'tool'
    if (this.#phase !== 'code') return []
    const parser = this.#code.get(position) ?? new CodeDeltas()
    this.#code.set(position, parser)
    const text = parser.add(added)
    // The text precedes the calls.
    return text === '' ? [] : [{ type: 'code', block: position + 1, text }]
  }

  #stopReason(reason: StopReason, hasToolUses: boolean): StopReason {
    if (this.#refusal !== '' && this.#text === '') return 'refusal'
    // Some servers end a reply with tool calls with `stop`.
    return reason === 'end_turn' && hasToolUses ? 'tool_use' : reason
  }
}

/** Strings and lists arrive in pieces. */
function append(value: JsonValue | undefined, added: JsonValue): JsonValue {
  if (typeof value === 'string' && typeof added === 'string') return value + added
  if (Array.isArray(value) && Array.isArray(added)) return [...value, ...added] as readonly JsonValue[]
  return added
}

/** Usage in the form of chat completions. Counts that are not numbers become 0. */
export function toUsage({ prompt_tokens, completion_tokens, prompt_tokens_details }: JsonObject): Usage {
  const details = isJsonObject(prompt_tokens_details) ? prompt_tokens_details : {}
  const cacheReadTokens = tokenCount(details['cached_tokens']) ?? 0
  const cacheWriteTokens = tokenCount(details['cache_write_tokens']) ?? 0
  return {
    // The total includes both counts.
    inputTokens: Math.max(0, (tokenCount(prompt_tokens) ?? 0) - cacheReadTokens - cacheWriteTokens),
    outputTokens: tokenCount(completion_tokens) ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  }
}

export function cutReply(): PtcError {
  return new PtcError('MODEL_STREAM', "The model's reply can't be used: it ended in the middle.", {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}
