import type { JsonObject } from '../../common/json/json.js'
import type { AssistantBlock, UnknownBlock } from '../../common/runs/messages.js'

const blockType = 'openai_message'
const itemsType = 'openai_response'

/** Whether a block is of {@link toExtrasBlock} or {@link toItemsBlock}: other vendors do not know it. */
export function isExtrasBlock({ type }: { readonly type: string }): boolean {
  return type === blockType || type === itemsType
}

/**
 * What a reply has beside text, tool calls and their arguments: reasoning, signatures. A block of the stored
 * conversation keeps it, and it is sent back to the provider that it is from.
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

/** The extras of a message, if this provider has sent it. */
export function extrasOf(provider: string, content: readonly AssistantBlock[]): MessageExtras {
  // The shape that `toExtrasBlock` has written.
  const blocks = content.filter(({ type }) => type === blockType) as unknown as readonly ExtrasBlock[]
  const { message = {}, tool_calls: toolCalls = [] } = blocks.find((block) => block.provider === provider) ?? {}
  return { message, toolCalls }
}

interface ItemsBlock {
  readonly provider: string
  readonly model: string
  readonly items: readonly JsonObject[]
}

/** The items of a reply of the responses API, as they were received. */
export function toItemsBlock({ provider, model, items }: ItemsBlock): UnknownBlock {
  return { type: itemsType, provider, model, items }
}

/** The items of a message, if this model of this provider has sent it. Another one can't decrypt its reasoning. */
export function itemsOf(
  { provider, model }: Pick<ItemsBlock, 'provider' | 'model'>,
  content: readonly AssistantBlock[],
): readonly JsonObject[] | undefined {
  // The shape that `toItemsBlock` has written.
  const blocks = content.filter(({ type }) => type === itemsType) as unknown as readonly ItemsBlock[]
  return blocks.find((block) => block.provider === provider && block.model === model)?.items
}

/** Whether an item is a call. The calls among the items of a reply are its tool uses, in the same order. */
export function isFunctionCall({ type }: JsonObject): boolean {
  return type === 'function_call'
}
