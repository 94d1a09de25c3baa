import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import {
  type AssistantBlock,
  type CodeContainer,
  isThinkingBlock,
  type ModelReply,
  type UnknownBlock,
  type Usage,
} from '../../common/runs/messages.js'
import { codeExecutionTool } from '../../common/runs/hosted-code.js'
import { executeCodeTool } from '../../common/names.js'
import { CodeDeltas } from '../code-deltas.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../provider.js'
import { applyDelta, charactersOf, type BlockDraft } from './block-deltas.js'
import { withoutBlankText } from './content.js'
import type { ReportedContainer, ReportedUsage, StreamEvent } from './events.js'

/** The parts of a reply that its stream contains. */
export type StreamedReply = Pick<
  ModelReply,
  'model' | 'content' | 'stopReason' | 'stopSequence' | 'usage' | 'container' | 'contextEdits'
>

interface ReportedStop {
  readonly stop_reason?: string | null | undefined
  readonly stop_sequence?: string | null | undefined
}

type ReplyEvent = Exclude<StreamEvent, { readonly type: 'error' }>

// Stop reasons that truncate the output, possibly within a tool's input. With any other reason, incomplete input means
// a broken stream.
const truncationReasons: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal'])

/** Builds one reply from its events. `add` and `finish` throw PtcError MODEL_STREAM for an invalid stream. */
export class ReplyBuilder {
  #model: string | undefined
  #drafts: BlockDraft[] = []
  #stopReason: string | undefined
  #stopSequence: string | undefined
  #usage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  #container: CodeContainer | undefined
  #contextEdits: readonly JsonObject[] = []
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0
  /** Of the block that is being written, if it is code. */
  #code = new CodeDeltas()
  #complete = false

  /** True after `message_stop`. */
  get complete(): boolean {
    return this.#complete
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  /** Returns the text or code that the event adds; undefined when it adds none. */
  add(event: ReplyEvent): ModelDelta | undefined {
    if ((this.#model === undefined) !== (event.type === 'message_start')) throw replyError(`${event.type} out of order`)
    switch (event.type) {
      case 'message_start': {
        const { message } = event
        this.#model = message.model
        // Usually empty. The whole reply is here when code has made more calls, and with some servers.
        this.#drafts = message.content.map((block) => ({ block, inputJson: '' }))
        this.#applyTotals(message, message.usage)
        this.#applyContainer(message.container)
        break
      }
      case 'content_block_start':
        if (event.index !== this.#drafts.length) throw replyError(`block ${event.index} begins out of order`)
        this.#drafts.push({ block: event.content_block, inputJson: '' })
        this.#phase = phaseOf(event.content_block)
        this.#code = new CodeDeltas()
        return this.#phase === 'text' ? textDelta(event.index, event.content_block) : undefined
      case 'content_block_delta': {
        const draft = this.#drafts[event.index]
        if (draft === undefined) throw replyError(`block ${event.index} continues before it began`)
        this.#drafts[event.index] = applyDelta(draft, event.delta)
        this.#outputCharacters += charactersOf(event.delta)
        if (event.delta.type === 'text_delta') return textDelta(event.index, event.delta)
        if (this.#phase !== 'code' || event.delta.type !== 'input_json_delta') break
        const json = event.delta['partial_json']
        const text = typeof json === 'string' ? this.#code.add(json) : ''
        return text === '' ? undefined : { type: 'code', block: event.index, text }
      }
      case 'content_block_stop':
        this.#phase = 'waiting'
        break
      case 'message_delta':
        this.#applyTotals(event.delta, event.usage)
        this.#applyContainer(event.delta.container)
        this.#contextEdits = event.context_management?.applied_edits ?? this.#contextEdits
        break
      case 'message_stop':
        this.#complete = true
        break
    }
    return undefined
  }

  finish(): StreamedReply {
    if (this.#model === undefined) throw replyError('it ended before it began')
    if (!this.#complete) throw replyError('it ended in the middle')
    const stopReason = this.#stopReason
    if (stopReason === undefined) throw replyError('it gives no stop_reason')
    const content = this.#drafts.map((draft) => finishBlock(draft, stopReason))
    return {
      model: this.#model,
      content: withoutBlankText(content),
      stopReason,
      ...(this.#stopSequence !== undefined && { stopSequence: this.#stopSequence }),
      usage: this.#usage,
      ...(this.#container && { container: this.#container }),
      ...(this.#contextEdits.length > 0 && { contextEdits: this.#contextEdits }),
    }
  }

  #applyContainer(container: ReportedContainer): void {
    if (container) this.#container = { id: container.id, expiresAt: container.expires_at ?? null }
  }

  /** Counts are totals. A missing count is unchanged. */
  #applyTotals(stopped: ReportedStop, usage: ReportedUsage | null | undefined): void {
    this.#stopReason = stopped.stop_reason ?? this.#stopReason
    this.#stopSequence = stopped.stop_sequence ?? this.#stopSequence
    this.#usage = {
      inputTokens: usage?.input_tokens ?? this.#usage.inputTokens,
      outputTokens: usage?.output_tokens ?? this.#usage.outputTokens,
      cacheReadTokens: usage?.cache_read_input_tokens ?? this.#usage.cacheReadTokens,
      cacheWriteTokens: usage?.cache_creation_input_tokens ?? this.#usage.cacheWriteTokens,
    }
  }
}

function finishBlock({ block, inputJson }: BlockDraft, stopReason: string): AssistantBlock {
  const complete = inputJson === '' ? block : { ...block, input: parseInput(inputJson, stopReason) }
  if (complete.type === 'tool_use' && !isToolUse(complete)) throw replyError('a tool_use without id, name or input')
  return complete
}

/** The parsed input; empty if it was truncated, because a partial program must not be executed. */
function parseInput(json: string, stopReason: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json)
    if (isObject(input)) return input
  } catch {
    if (truncationReasons.has(stopReason)) return {}
  }
  throw replyError("a tool's input is no JSON object")
}

function isToolUse(block: JsonObject): boolean {
  return typeof block['id'] === 'string' && typeof block['name'] === 'string' && isObject(block['input'])
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function phaseOf(block: AssistantBlock): ModelPhase {
  if (block.type === 'text') return 'text'
  if (isThinkingBlock(block)) return 'thinking'
  const isServerTool = block.type === 'server_tool_use'
  if (isServerTool && 'name' in block && block['name'] === codeExecutionTool) return 'code'
  if (block.type !== 'tool_use') return 'waiting'
  return 'name' in block && block.name === executeCodeTool ? 'code' : 'tool'
}

function textDelta(block: number, { text }: UnknownBlock): ModelDelta | undefined {
  return typeof text === 'string' && text !== '' ? { type: 'text', block, text } : undefined
}

function replyError(what: string): PtcError {
  return new PtcError('MODEL_STREAM', `The model's reply can't be used: ${what}.`, {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}
