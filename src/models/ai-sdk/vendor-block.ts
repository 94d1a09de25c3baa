import type {
  LanguageModelV3Message,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider'
import { defined } from '../../common/defined.js'
import type { JsonObject } from '../../common/json/json.js'
import { type AssistantBlock, isTextBlock, isToolUseBlock, type UnknownBlock } from '../../common/agent/messages.js'

const blockType = 'ai_sdk_message'

type AssistantMessage = Extract<LanguageModelV3Message, { role: 'assistant' }>

/**
 * A part of a reply, as the same model gets it back. The text, and a tool use, are in blocks of their own, in the same
 * order.
 */
export type KeptPart =
  | Omit<LanguageModelV3TextPart, 'text'>
  | LanguageModelV3ReasoningPart
  | Omit<LanguageModelV3ToolCallPart, 'toolCallId' | 'toolName' | 'input'>
  | LanguageModelV3ToolCallPart
  | LanguageModelV3ToolResultPart

interface VendorBlock {
  /** Name of the provider in the configuration. */
  readonly provider: string
  readonly model: string
  readonly parts: readonly KeptPart[]
  /** Options of the whole message. */
  readonly options?: SharedV3ProviderOptions
}

/** Whether {@link toVendorBlock} made a block. Other vendors do not know such blocks. */
export function isVendorBlock({ type }: { readonly type: string }): boolean {
  return type === blockType
}

/** A block with all of a reply that only its vendor knows: reasoning, signatures, its own tools. None without any. */
export function toVendorBlock({ parts, options, ...asked }: VendorBlock): readonly UnknownBlock[] {
  const isPlain = parts.every((part) => Object.keys(part).length === 1)
  if (isPlain && options === undefined) return []
  return [{ type: blockType, ...asked, parts, ...defined({ options }) } as unknown as UnknownBlock]
}

/**
 * The message of a reply with everything that this model of this provider wrote. Undefined for replies of others, and
 * of another model of the same provider: reasoning is encrypted or signed for the model that wrote it, and APIs refuse
 * that of another model. Its text and its calls are still sent.
 */
export function messageOf(
  { provider, model }: Pick<VendorBlock, 'provider' | 'model'>,
  content: readonly AssistantBlock[],
): AssistantMessage | undefined {
  // The shape that `toVendorBlock` writes.
  const blocks = content.filter(isVendorBlock) as unknown as readonly VendorBlock[]
  const block = blocks.find((each) => each.provider === provider && each.model === model)
  if (block === undefined) return undefined
  const texts = content.filter(isTextBlock).values()
  const uses = content.filter(isToolUseBlock).values()
  const parts = block.parts.flatMap((part): AssistantMessage['content'] => {
    if (part.type === 'text') {
      const { value } = texts.next()
      return value ? [{ ...part, text: value.text }] : []
    }
    if (part.type !== 'tool-call' || 'toolCallId' in part) return [part]
    const { value } = uses.next()
    return value ? [{ ...part, ...toCall(value) }] : []
  })
  const isComplete = texts.next().done && uses.next().done
  if (!isComplete) return undefined
  return { role: 'assistant', content: parts, ...defined({ providerOptions: block.options }) }
}

export function toCall(use: { readonly id: string; readonly name: string; readonly input: JsonObject }) {
  return { type: 'tool-call', toolCallId: use.id, toolName: use.name, input: use.input } as const
}
