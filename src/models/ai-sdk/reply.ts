import type {
  LanguageModelV3FinishReason,
  LanguageModelV3Source,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider'
import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { executeCodeTool } from '../../common/names.js'
import type { AssistantBlock, ModelReply, StopReason, ToolUseBlock, Usage } from '../../common/agent/messages.js'
import { CodeDeltas } from '../reply/code-deltas.js'
import type { ModelDelta, ModelPhase, ModelProgress } from '../provider.js'
import { isTruncating, toStopReason } from '../reply/stop-reason.js'
import { tokenCount } from '../reply/token-count.js'
import { parseToolInput } from '../reply/tool-input.js'
import { compatible } from './vendor.js'
import { type KeptPart, toVendorBlock } from './vendor-block.js'
import { cutReply } from './wire/event-stream.js'
import type { Exchange } from './wire/exchange.js'

/** The parts of a reply that its stream contains. */
export type StreamedReply = Pick<ModelReply, 'content' | 'stopReason' | 'usage'> & {
  /** Undefined when the server does not return the model. */
  readonly model: string | undefined
}

interface Asked {
  /** Name of the provider. */
  readonly provider: string
  /** The model of the request. */
  readonly model: string
  /** The vendor keeps members of a message that it does not know. They contain the reasoning, too. */
  readonly keepsExtras: boolean
}

interface TextDraft {
  readonly type: 'text' | 'reasoning'
  text: string
  metadata: SharedV3ProviderMetadata | undefined
  /** By their JSON: a source that is cited in several places is listed once. */
  readonly citations: Map<string, Citation>
}

/** A source of a text, in the form of the Messages API. No vendor gets it back, so members may be missing. */
type Citation = JsonObject

/** The input of a tool, which arrives in pieces. */
interface InputDraft {
  readonly block: number
  readonly code: CodeDeltas | undefined
}

type Piece = Extract<LanguageModelV3StreamPart, { type: `${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}` }>

/** Builds one reply from the parts of a stream of the AI SDK. */
export class ReplyBuilder {
  readonly #asked: Asked
  #model: string | undefined
  readonly #drafts: (TextDraft | LanguageModelV3ToolCall | KeptPart)[] = []
  /** The texts that have not ended, by their type and id, and their positions among the blocks. */
  readonly #open = new Map<string, { readonly draft: TextDraft; readonly block: number }>()
  readonly #inputs = new Map<string, InputDraft>()
  #lastText: TextDraft | undefined
  /** The citations that arrived before the first text. */
  readonly #earlyCitations = new Map<string, Citation>()
  #blocks = 0
  #finish: Extract<LanguageModelV3StreamPart, { type: 'finish' }> | undefined
  #phase: ModelPhase = 'waiting'
  #outputCharacters = 0

  constructor(asked: Asked) {
    this.#asked = asked
  }

  get progress(): ModelProgress {
    return { phase: this.#phase, outputCharacters: this.#outputCharacters }
  }

  /**
   * @returns the text or code that the part adds
   * @throws PtcError MODEL_BAD_REQUEST for a setting that the model does not take; the error in the stream
   */
  add(part: LanguageModelV3StreamPart): ModelDelta | undefined {
    switch (part.type) {
      case 'stream-start':
        for (const warning of part.warnings) if (warning.type === 'unsupported') refuseSetting(warning)
        return undefined
      case 'response-metadata':
        this.#model = part.modelId || this.#model
        return undefined
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#addPiece(part)
      case 'tool-input-start': {
        const isCode = part.toolName === executeCodeTool
        this.#phase = isCode ? 'code' : 'tool'
        this.#inputs.set(part.id, { block: this.#blocks++, code: isCode ? new CodeDeltas() : undefined })
        return undefined
      }
      case 'tool-input-delta':
        return this.#addInput(part.id, part.delta)
      case 'tool-call':
        this.#drafts.push(part.providerExecuted ? toKeptCall(part) : part)
        return undefined
      case 'tool-result':
        if (!part.preliminary) this.#drafts.push(toKeptResult(part))
        return undefined
      case 'source':
        this.#cite(toCitation(part))
        return undefined
      case 'finish':
        this.#finish = part
        return undefined
      case 'error':
        throw part.error
      default:
        return undefined
    }
  }

  /**
   * @param dropped what the AI SDK drops of a chat completion: members of the message, and annotations
   * @throws PtcError MODEL_STREAM for an incomplete reply, MODEL_SERVER when the server gave up
   */
  finish({ extras, annotations }: Exchange['dropped']): StreamedReply {
    if (this.#finish === undefined) throw cutReply()
    for (const annotation of annotations) this.#cite(annotationCitation(annotation))
    const { finishReason, usage } = this.#finish
    const reason = toReason(finishReason)
    const drafts = this.#drafts.filter((draft) => !isBlankText(draft))
    const texts = drafts.filter(isText).map(toTextBlock)
    const uses = drafts.flatMap((draft) => (isCall(draft) ? [toToolUse(draft, isTruncating(reason))] : []))
    const { keepsExtras, ...asked } = this.#asked
    const parts = drafts.flatMap((draft): readonly KeptPart[] => {
      if (isCall(draft)) return [{ type: 'tool-call', ...optionsOf(draft.providerMetadata, keepsExtras) }]
      if (!isDraft(draft)) return [draft]
      const options = optionsOf(draft.metadata, keepsExtras)
      if (draft.type === 'text') return [{ type: 'text', ...options }]
      return keepsExtras ? [] : [{ type: 'reasoning', text: draft.text, ...options }]
    })
    const hasExtras = keepsExtras && Object.keys(extras).length > 0
    return {
      model: this.#model,
      content: [
        ...toVendorBlock({ ...asked, parts, ...(hasExtras && { options: toOptions(extras) }) }),
        ...texts,
        ...uses,
      ],
      // Some servers end a reply with tool calls with `stop`.
      stopReason: reason === 'end_turn' && uses.length > 0 ? 'tool_use' : reason,
      usage: toUsage(usage),
    }
  }

  #addPiece(part: Piece): ModelDelta | undefined {
    const [type, event] = part.type.split('-') as ['text' | 'reasoning', 'start' | 'delta' | 'end']
    const key = `${type} ${part.id}`
    const open = (event === 'start' ? undefined : this.#open.get(key)) ?? this.#begin(key, type)
    open.draft.metadata = part.providerMetadata ?? open.draft.metadata
    if (event === 'end') this.#open.delete(key)
    const added = 'delta' in part ? part.delta : ''
    if (added === '') return undefined
    open.draft.text += added
    this.#outputCharacters += added.length
    this.#phase = type === 'text' ? 'text' : 'thinking'
    return type === 'text' ? { type, block: open.block, text: added } : undefined
  }

  #begin(key: string, type: TextDraft['type']) {
    const draft: TextDraft = { type, text: '', metadata: undefined, citations: new Map() }
    this.#drafts.push(draft)
    if (type === 'text') {
      this.#lastText = draft
      for (const citation of this.#earlyCitations.values()) this.#cite(citation)
      this.#earlyCitations.clear()
    }
    const begun = { draft, block: type === 'text' ? this.#blocks++ : -1 }
    this.#open.set(key, begun)
    return begun
  }

  /** Adds a source to the last text. */
  #cite(citation: Citation | undefined): void {
    const citations = this.#lastText?.citations ?? this.#earlyCitations
    if (citation) citations.set(JSON.stringify(citation), citation)
  }

  #addInput(id: string, added: string): ModelDelta | undefined {
    const input = this.#inputs.get(id)
    this.#outputCharacters += added.length
    this.#phase = input?.code ? 'code' : 'tool'
    const text = input?.code?.add(added) ?? ''
    return input === undefined || text === '' ? undefined : { type: 'code', block: input.block, text }
  }
}

type Draft = TextDraft | LanguageModelV3ToolCall | KeptPart

function isDraft(draft: Draft): draft is TextDraft {
  return 'metadata' in draft
}

function isText(draft: Draft): draft is TextDraft {
  return isDraft(draft) && draft.type === 'text'
}

function isBlankText(draft: Draft): boolean {
  return isText(draft) && draft.text.trim() === ''
}

/** Whether a draft is a call that the engine executes. */
function isCall(draft: Draft): draft is LanguageModelV3ToolCall {
  return draft.type === 'tool-call' && 'input' in draft && !('providerExecuted' in draft && draft.providerExecuted)
}

function toTextBlock({ text, citations }: TextDraft): AssistantBlock {
  return citations.size === 0 ? { type: 'text', text } : { type: 'text', text, citations: [...citations.values()] }
}

function toCitation(source: LanguageModelV3Source): Citation {
  if (source.sourceType === 'url') return urlCitation(source.url, source.title)
  const { filename, title } = source
  return { type: 'search_result_location', source: filename ?? title, title, cited_text: '' }
}

/** The source in an annotation of a chat completion. Undefined for other values. */
function annotationCitation(annotation: JsonValue): Citation | undefined {
  const cited = isJsonObject(annotation) ? annotation['url_citation'] : undefined
  if (!isJsonObject(cited) || typeof cited['url'] !== 'string') return undefined
  return urlCitation(cited['url'], cited['title'])
}

function urlCitation(url: string, title: unknown): Citation {
  return { type: 'web_search_result_location', url, title: typeof title === 'string' ? title : null, cited_text: '' }
}

function toToolUse(
  { toolCallId: id, toolName: name, input }: LanguageModelV3ToolCall,
  isTruncated: boolean,
): ToolUseBlock {
  return { type: 'tool_use', id, name, ...parseToolInput(name, input, isTruncated) }
}

function toKeptCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV3ToolCall): KeptPart {
  const { input: parsed } = parseToolInput(toolName, input, false)
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input: parsed,
    providerExecuted: true,
    ...optionsOf(providerMetadata),
  }
}

type ToolResult = Extract<LanguageModelV3StreamPart, { type: 'tool-result' }>

function toKeptResult({ toolCallId, toolName, result, providerMetadata }: ToolResult): KeptPart {
  const output = { type: 'json', value: result } as const
  return { type: 'tool-result', toolCallId, toolName, output, ...optionsOf(providerMetadata) }
}

/** What the vendor wants back with a part. */
function optionsOf(
  metadata: SharedV3ProviderMetadata | undefined,
  keepsExtras = false,
): { readonly providerOptions?: SharedV3ProviderOptions } {
  if (metadata === undefined) return {}
  if (!keepsExtras) return { providerOptions: metadata }
  // `ChatStream` has put all members of a call that are not OpenAI's into its signature.
  const extras = metadata[compatible]?.['thoughtSignature']
  return typeof extras === 'string' ? { providerOptions: toOptions(JSON.parse(extras) as JsonObject) } : {}
}

/** Members that the package for compatible servers adds to a message or a call. */
function toOptions(members: JsonObject): SharedV3ProviderOptions {
  return { [compatible]: members } as SharedV3ProviderOptions
}

function toReason({ unified, raw }: LanguageModelV3FinishReason): StopReason {
  if (unified === 'other' && raw === undefined) throw cutReply()
  // A refusal has its own text, and `stop` as its reason.
  return toStopReason(unified === 'content-filter' ? unified : (raw ?? unified))
}

const settings: ReadonlySet<string> = new Set(['temperature', 'stopSequences', 'toolChoice'])

/** The AI SDK leaves out a setting that a model does not take, and warns. */
function refuseSetting({ feature, details }: { readonly feature: string; readonly details?: string }): void {
  if (!settings.has(feature)) return
  throw new PtcError('MODEL_BAD_REQUEST', `the model does not take ${feature}${details ? `: ${details}` : ''}`, {
    hint: 'Leave the setting out, or choose another model.',
  })
}

function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV3Usage): Usage {
  const details = raw?.['prompt_tokens_details']
  const written = isJsonObject(details) ? tokenCount(details['cache_write_tokens']) : undefined
  const cacheReadTokens = tokenCount(inputTokens.cacheRead) ?? 0
  const cacheWriteTokens = tokenCount(inputTokens.cacheWrite) ?? written ?? 0
  return {
    // The total includes both counts.
    inputTokens: Math.max(0, (tokenCount(inputTokens.total) ?? 0) - cacheReadTokens - cacheWriteTokens),
    outputTokens: tokenCount(outputTokens.total) ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  }
}
