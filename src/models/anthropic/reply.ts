import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json.js'
import type { AssistantBlock, ModelReply, Usage } from '../../common/messages.js'
import { executeCodeTool } from '../../common/names.js'
import type { ModelPhase, ModelProgress } from '../provider.js'
import { applyDelta, charactersOf, type BlockDraft } from './block-deltas.js'
import { withoutBlankText } from './content.js'
import type { ReportedUsage, StreamEvent } from './events.js'

/** A reply put together from a stream: everything of it that the stream itself knows. */
export type StreamedReply = Pick<ModelReply, 'model' | 'content' | 'stopReason' | 'usage'>

type ReplyEvent = Exclude<StreamEvent, { readonly type: 'error' }>

// Output was cut off by these, perhaps within a tool's input; after any other reason broken input is a broken stream.
const cuttingReasons: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal'])

/** Collects the events of one reply. `add` and `finish` throw PtcError MODEL_STREAM for what can't be a reply. */
export class ReplyBuilder {
  #model: string | undefined
  #drafts: BlockDraft[] = []
  #stopReason: string | undefined
  #usage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0
  #complete = false

  /** True once the stream has said that this was all. */
  get complete(): boolean {
    return this.#complete
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  add(event: ReplyEvent): void {
    if ((this.#model === undefined) !== (event.type === 'message_start')) throw broken(`${event.type} out of order`)
    switch (event.type) {
      case 'message_start': {
        const { message } = event
        this.#model = message.model
        // Usually empty; a reply that is not streamed in pieces comes whole.
        this.#drafts = message.content.map((block) => ({ block, inputJson: '' }))
        this.#end(message.stop_reason, message.usage)
        break
      }
      case 'content_block_start':
        if (event.index !== this.#drafts.length) throw broken(`block ${event.index} begins out of order`)
        this.#drafts.push({ block: event.content_block, inputJson: '' })
        this.#phase = phaseOf(event.content_block)
        break
      case 'content_block_delta': {
        const draft = this.#drafts[event.index]
        if (draft === undefined) throw broken(`block ${event.index} goes on before it began`)
        this.#drafts[event.index] = applyDelta(draft, event.delta)
        this.#outputCharacters += charactersOf(event.delta)
        break
      }
      case 'content_block_stop':
        this.#phase = 'waiting'
        break
      case 'message_delta':
        this.#end(event.delta.stop_reason, event.usage)
        break
      case 'message_stop':
        this.#complete = true
        break
    }
  }

  finish(): StreamedReply {
    if (this.#model === undefined) throw broken('it ended before it began')
    if (!this.#complete) throw broken('it ended in the middle')
    const stopReason = this.#stopReason
    if (stopReason === undefined) throw broken('it gives no stop_reason')
    const content = this.#drafts.map((draft) => blockOf(draft, stopReason))
    return { model: this.#model, content: withoutBlankText(content), stopReason, usage: this.#usage }
  }

  /** Counts are totals, and left out where they did not change. */
  #end(stopReason: string | null | undefined, usage: ReportedUsage | null | undefined): void {
    this.#stopReason = stopReason ?? this.#stopReason
    this.#usage = {
      inputTokens: usage?.input_tokens ?? this.#usage.inputTokens,
      outputTokens: usage?.output_tokens ?? this.#usage.outputTokens,
      cacheReadTokens: usage?.cache_read_input_tokens ?? this.#usage.cacheReadTokens,
      cacheWriteTokens: usage?.cache_creation_input_tokens ?? this.#usage.cacheWriteTokens,
    }
  }
}

function blockOf({ block, inputJson }: BlockDraft, stopReason: string): AssistantBlock {
  const whole = inputJson === '' ? block : { ...block, input: inputOf(inputJson, stopReason) }
  if (whole.type === 'tool_use' && !isToolUse(whole)) throw broken('a tool_use without id, name or input')
  return whole
}

/** Input that was cut off becomes empty: what is half a program must not look like a program. */
function inputOf(json: string, stopReason: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json)
    if (isObject(input)) return input
  } catch {
    if (cuttingReasons.has(stopReason)) return {}
  }
  throw broken("a tool's input is no JSON object")
}

function isToolUse(block: JsonObject): boolean {
  return typeof block['id'] === 'string' && typeof block['name'] === 'string' && isObject(block['input'])
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function phaseOf(block: AssistantBlock): ModelPhase {
  if (block.type === 'text') return 'text'
  if (isThinking(block)) return 'thinking'
  if (block.type !== 'tool_use') return 'waiting'
  return 'name' in block && block.name === executeCodeTool ? 'code' : 'tool'
}

function isThinking({ type }: AssistantBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function broken(what: string): PtcError {
  return new PtcError('MODEL_STREAM', `The model's reply can't be used: ${what}.`, {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}
