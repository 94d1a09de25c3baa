import { executeCodeTool } from '../../../common/names.js'
import { isJsonObject, type JsonValue } from '../../../common/json/json.js'
import type { StopReason, TextBlock, ToolUseBlock, Usage } from '../../../common/agent/messages.js'
import { CodeDeltas } from '../../code-deltas.js'
import { invalidReply } from '../../invalid-reply.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../../provider.js'
import { isTruncating, toStopReason } from '../../stop-reason.js'
import { parseToolInput, toToolInput } from '../../tool-input.js'
import { isFunctionCall, toItemsBlock } from '../message-extras.js'
import { cutReply, type StreamedReply, toUsage } from '../reply.js'
import type { ReadOptions } from '../stream.js'
import type { FinalResponse, OutputItem, ResponseEvent } from './events.js'

type ReplyEvent = Exclude<ResponseEvent, { readonly type: 'error' | 'response.failed' }>

/** Builds one reply from the events of a response. */
export class ResponseBuilder {
  readonly #asked: Pick<ReadOptions, 'provider' | 'model'>
  /** Begun and complete items, by their index in the output. */
  readonly #begun = new Map<number, OutputItem>()
  readonly #done = new Map<number, OutputItem>()
  readonly #code = new Map<number, CodeDeltas>()
  #final: FinalResponse | undefined
  #isIncomplete = false
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0

  constructor({ provider, model }: Pick<ReadOptions, 'provider' | 'model'>) {
    this.#asked = { provider, model }
  }

  /** Whether the last event has arrived. */
  get isComplete(): boolean {
    return this.#final !== undefined
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  /** @returns the text or code that the event adds */
  add(event: ReplyEvent): readonly ModelDelta[] {
    switch (event.type) {
      case 'response.output_item.added':
        this.#begun.set(event.output_index ?? this.#begun.size, event.item)
        return []
      case 'response.output_item.done':
        this.#done.set(event.output_index ?? this.#done.size, event.item)
        return []
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#addText('text', event.output_index ?? 0, event.delta ?? '')
      case 'response.function_call_arguments.delta':
        return this.#addArguments(event.output_index ?? 0, event.delta ?? '')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#phase = 'thinking'
        this.#outputCharacters += (event.delta ?? '').length
        return []
      default:
        // An incomplete response contains the reason; see `finish`.
        this.#final = event.response
        this.#isIncomplete = event.type === 'response.incomplete'
        return []
    }
  }

  /**
   * @param isEnded the server has said that the stream ends here: then its last event may be missing
   * @throws PtcError MODEL_STREAM for an incomplete reply, MODEL_REPLY_INVALID for one without anything, or without an
   *   item that has begun, MODEL_SERVER when the server gave up
   */
  finish(isEnded: boolean): StreamedReply {
    const final = this.#final ?? (isEnded && this.#done.size > 0 ? {} : undefined)
    // The server often gives the same again.
    if (final === undefined && isEnded) throw invalidReply('it has no whole item')
    if (final === undefined) throw cutReply()
    const stopReason = this.#truncationOf(final)
    // Some servers send the output only at the end, others leave it out there.
    const items = final.output?.length ? final.output : [...this.#done.values()]
    if (items.length < this.#begun.size) throw invalidReply('an item of it is missing')
    const uses = toolUses(items, stopReason !== undefined)
    const texts = textsOf(items, 'output_text', 'text')
    const refusals = textsOf(items, 'refusal', 'refusal')
    return {
      model: final.model,
      content: [
        ...(items.length > 0 ? [toItemsBlock({ ...this.#asked, items })] : []),
        ...(texts.length > 0 ? texts : refusals),
        ...uses,
      ],
      stopReason: stopReason ?? endOf(uses.length > 0, texts.length === 0 && refusals.length > 0),
      usage: usageOf(final.usage),
    }
  }

  /** Why the response is incomplete; undefined for a complete one. */
  #truncationOf({ status, incomplete_details: details }: FinalResponse): StopReason | undefined {
    const isIncomplete = this.#isIncomplete || status === 'incomplete'
    const reason = details?.reason ?? (isIncomplete ? 'incomplete' : undefined)
    // A response that has failed says it in its status.
    const stopReason = toStopReason(reason ?? status ?? 'completed')
    if (isTruncating(stopReason)) return stopReason
    // An unknown reason: nothing of an incomplete reply is executed.
    return reason === undefined ? undefined : 'max_tokens'
  }

  #addText(type: 'text' | 'code', block: number, text: string): readonly ModelDelta[] {
    this.#phase = type
    if (type === 'text') this.#outputCharacters += text.length
    return text === '' ? [] : [{ type, block, text }]
  }

  #addArguments(block: number, delta: string): readonly ModelDelta[] {
    this.#outputCharacters += delta.length
    if (this.#begun.get(block)?.['name'] !== executeCodeTool) {
      this.#phase = 'tool'
      return []
    }
    const parser = this.#code.get(block) ?? new CodeDeltas()
    this.#code.set(block, parser)
    return this.#addText('code', block, parser.add(delta))
  }
}

function usageOf(reported: JsonValue | undefined): Usage {
  const usage = isJsonObject(reported) ? reported : {}
  return toUsage({
    prompt_tokens: usage['input_tokens'] ?? null,
    completion_tokens: usage['output_tokens'] ?? null,
    prompt_tokens_details: usage['input_tokens_details'] ?? null,
  })
}

/** In the order of their items. */
function toolUses(items: readonly OutputItem[], isTruncated: boolean): readonly ToolUseBlock[] {
  return items.filter(isFunctionCall).map(({ call_id: id, name: given, arguments: text }) => {
    const name = typeof given === 'string' ? given : ''
    const input =
      typeof text === 'string' ? parseToolInput(name, text, isTruncated) : toToolInput(name, text ?? null, isTruncated)
    return { type: 'tool_use', id: typeof id === 'string' ? id : '', name, ...input }
  })
}

/** The texts of the parts of this type in all messages. */
function textsOf(items: readonly OutputItem[], partType: string, member: string): readonly TextBlock[] {
  return items.flatMap(({ type, content }) => {
    if (type !== 'message' || !Array.isArray(content)) return []
    const parts = content as readonly unknown[]
    const text = parts
      .filter(isJsonObject)
      .map((part) => (part['type'] === partType && typeof part[member] === 'string' ? part[member] : ''))
      .join('')
    return text.trim() === '' ? [] : [{ type: 'text', text }]
  })
}

function endOf(hasToolUses: boolean, isRefusal: boolean): StopReason {
  if (isRefusal) return 'refusal'
  return hasToolUses ? 'tool_use' : 'end_turn'
}
