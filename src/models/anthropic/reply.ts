import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import {
  type AssistantBlock,
  type CodeContainer,
  isThinkingBlock,
  type ModelReply,
  type UnknownBlock,
  type Usage,
} from '../../common/agent/messages.js'
import { codeExecutionTool } from '../../common/agent/hosted-code.js'
import { executeCodeTool } from '../../common/names.js'
import { zeroUsage } from '../../common/run/runs.js'
import { CodeDeltas } from '../reply/code-deltas.js'
import { invalidReply } from '../reply/invalid-reply.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../provider.js'
import { isTruncating, toStopReason } from '../reply/stop-reason.js'
import { inputText, parseToolInput } from '../reply/tool-input.js'
import { applyDelta, charactersOf, type BlockDraft } from './block-deltas.js'
import { withoutBlankText } from './content.js'
import type { ReportedContainer, ReportedUsage, StreamEvent } from './events.js'

/** The parts of a reply that its stream contains. */
export type StreamedReply = Pick<
  ModelReply,
  'content' | 'stopReason' | 'stopSequence' | 'usage' | 'container' | 'contextEdits'
> & {
  /** Undefined when the server does not return the model. */
  readonly model: string | undefined
}

interface ReportedStop {
  readonly stop_reason?: string | undefined
  readonly stop_sequence?: string | undefined
}

type ReplyEvent = Exclude<StreamEvent, { readonly type: 'error' }>

/**
 * Builds one reply from its events. It accepts differences between servers: numbers of blocks with gaps or used again,
 * a missing stop reason, usage of any form. `add` and `finish` throw a PtcError for a reply that can't be used.
 */
export class ReplyBuilder {
  #hasBegun = false
  #model: string | undefined
  #drafts: BlockDraft[] = []
  /** Positions of the drafts, by the last number that the server gave them. */
  readonly #positions = new Map<number | undefined, number>()
  #stopReason: string | undefined
  #stopSequence: string | undefined
  #usage: Usage = zeroUsage
  #container: CodeContainer | undefined
  #contextEdits: readonly JsonObject[] = []
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0
  /** Deltas of the block that is being written, if it is code. */
  #code = new CodeDeltas()
  #complete = false

  /** Whether `message_stop` has arrived. */
  get complete(): boolean {
    return this.#complete
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  /** Returns the text or code that the event adds; undefined when the event adds none. */
  add(event: ReplyEvent): ModelDelta | undefined {
    this.#hasBegun = true
    switch (event.type) {
      case 'message_start': {
        const { message } = event
        if (this.#drafts.length > 0) throw invalidReply('it begins twice')
        this.#model = message?.model || this.#model
        // Usually empty. It has the whole reply when code has made more calls, and with some servers.
        for (const [index, block] of (message?.content ?? []).entries()) this.#begin(index, block)
        this.#applyTotals(message, message?.usage)
        this.#applyContainer(message?.container)
        break
      }
      case 'content_block_start': {
        const { index, content_block: block } = event
        const position = this.#begin(index, block)
        this.#phase = phaseOf(block)
        this.#code = new CodeDeltas()
        return this.#phase === 'text' ? textDelta(position, block) : undefined
      }
      case 'content_block_delta':
        return event.delta && this.#addDelta(event.index, event.delta)
      case 'content_block_stop':
        this.#phase = 'waiting'
        break
      case 'message_delta':
        this.#applyTotals(event.delta, event.usage)
        this.#applyContainer(event.delta?.container)
        this.#contextEdits = event.context_management?.applied_edits ?? this.#contextEdits
        break
      case 'message_stop':
        this.#complete = true
        break
    }
    return undefined
  }

  finish(): StreamedReply {
    if (!this.#hasBegun) throw streamError('it ended before it began')
    if (!this.#complete) throw streamError('it ended in the middle')
    // The server often gives the same again.
    if (this.#stopReason === undefined && this.#drafts.length === 0)
      throw invalidReply('it has neither blocks nor a stop reason')
    const hasToolUse = this.#drafts.some(({ block }) => block.type === 'tool_use')
    const stopReason = toStopReason(this.#stopReason ?? (hasToolUse ? 'tool_use' : 'end_turn'))
    const content = this.#drafts.map((draft) => finishBlock(draft, stopReason))
    return {
      model: this.#model,
      content: withoutBlankText(content),
      stopReason,
      ...defined({ stopSequence: this.#stopSequence }),
      usage: this.#usage,
      ...defined({ container: this.#container }),
      ...(this.#contextEdits.length > 0 && { contextEdits: this.#contextEdits }),
    }
  }

  /** @returns the position of the block */
  #begin(index: number | undefined, block: UnknownBlock): number {
    this.#drafts.push({ block, inputJson: '' })
    const position = this.#drafts.length - 1
    this.#positions.set(index, position)
    return position
  }

  #addDelta(index: number | undefined, delta: UnknownBlock): ModelDelta | undefined {
    const position = this.#positions.get(index) ?? this.#beginUnannounced(index, delta)
    const draft = this.#drafts[position]
    if (draft === undefined) throw invalidReply(`${delta.type} continues a block that did not begin`)
    this.#drafts[position] = applyDelta(draft, delta)
    this.#outputCharacters += charactersOf(delta)
    if (delta.type === 'text_delta') return textDelta(position, delta)
    if (this.#phase !== 'code' || delta.type !== 'input_json_delta') return undefined
    const text = this.#code.add(inputText(delta['partial_json']))
    return text === '' ? undefined : { type: 'code', block: position, text }
  }

  /** A delta without a block of its number begins a text; others continue the last block. */
  #beginUnannounced(index: number | undefined, { type }: UnknownBlock): number {
    const last = this.#drafts.length - 1
    if (type !== 'text_delta' || (index === undefined && this.#drafts[last]?.block.type === 'text')) return last
    this.#phase = 'text'
    return this.#begin(index, { type: 'text', text: '' })
  }

  #applyContainer(container: ReportedContainer): void {
    if (container) this.#container = { id: container.id, expiresAt: container.expires_at ?? null }
  }

  /** Counts are totals. A missing count is unchanged. */
  #applyTotals(stopped: ReportedStop | null | undefined, usage: ReportedUsage | undefined): void {
    this.#stopReason = stopped?.stop_reason || this.#stopReason
    this.#stopSequence = stopped?.stop_sequence ?? this.#stopSequence
    this.#usage = { ...this.#usage, ...usage }
  }
}

function finishBlock({ block, inputJson }: BlockDraft, stopReason: string): AssistantBlock {
  if (inputJson === '') return block
  const name = typeof block['name'] === 'string' ? block['name'] : ''
  const parsed = parseToolInput(name, inputJson, isTruncating(stopReason))
  // Some servers begin the block with its whole input, and add an empty one.
  const { input, input_problem: problem } = parsed
  const isReplaced = problem !== undefined || !isEmpty(input)
  if (!isReplaced && isJsonObject(block['input']) && !isEmpty(block['input'])) return block
  // Only a tool use of ours can say what is wrong with its input.
  return { ...block, ...(block.type === 'tool_use' ? parsed : { input }) }
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0
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

function streamError(what: string): PtcError {
  return new PtcError('MODEL_STREAM', `The model's reply can't be used: ${what}.`, {
    hint: 'Usually passes by itself; the call is tried again.',
  })
}
