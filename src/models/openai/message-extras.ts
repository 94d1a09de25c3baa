import type { JsonObject } from '../../common/json/json.js'
import type { AssistantBlock, UnknownBlock } from '../../common/agent/messages.js'

const blockType = 'openai_message'
const itemsType = 'openai_response'

/** Whether {@link toExtrasBlock} or {@link toItemsBlock} made a block. Other vendors do not know such blocks. */
export function isExtrasBlock({ type }: { readonly type: string }): boolean {
  return type === blockType || type === itemsType
}

/**
 * The parts of a reply other than text, tool calls and their arguments: reasoning, signatures. A block of the stored
 * conversation keeps them, and they are sent back to the same provider.
 */
export interface MessageExtras {
  /** Members of the message, such as `reasoning_content`. */
  readonly message: JsonObject
  /** Members of each tool call, such as `extra_content`. */
  readonly toolCalls: readonly JsonObject[]
}

interface ExtrasBlock {
  readonly provider: string
  readonly message: JsonObject
  readonly tool_calls: readonly JsonObject[]
}

/** @param provider name of the provider in the configuration */
export function toExtrasBlock(provider: string, { message, toolCalls }: MessageExtras): readonly UnknownBlock[] {
  if ([message, ...toolCalls].every((members) => Object.keys(members).length === 0)) return []
  return [{ type: blockType, provider, message, tool_calls: toolCalls }]
}

/** The extras of a message, if it comes from this provider. */
export function extrasOf(provider: string, content: readonly AssistantBlock[]): MessageExtras {
  // The shape that `toExtrasBlock` writes.
  const blocks = content.filter(({ type }) => type === blockType) as unknown as readonly ExtrasBlock[]
  const { message = {}, tool_calls: toolCalls = [] } = blocks.find((block) => block.provider === provider) ?? {}
  return { message, toolCalls }
}

interface ItemsBlock {
  readonly provider: string
  readonly model: string
  readonly items: readonly JsonObject[]
}

/** A block with the unchanged items of a reply of the responses API. */
export function toItemsBlock({ provider, model, items }: ItemsBlock): UnknownBlock {
  return { type: itemsType, provider, model, items }
}

/** The items of a message, if it comes from this model of this provider. Another model can't decrypt its reasoning. */
export function itemsOf(
  { provider, model }: Pick<ItemsBlock, 'provider' | 'model'>,
  content: readonly AssistantBlock[],
): readonly JsonObject[] | undefined {
  // The shape that `toItemsBlock` writes.
  const blocks = content.filter(({ type }) => type === itemsType) as unknown as readonly ItemsBlock[]
  return blocks.find((block) => block.provider === provider && block.model === model)?.items
}

/** Whether an item is a call. The calls among the items of a reply are its tool uses, in the same order. */
export function isFunctionCall({ type }: JsonObject): boolean {
  return type === 'function_call'
}
