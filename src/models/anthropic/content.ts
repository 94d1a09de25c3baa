import { type AssistantBlock, isToolUseBlock, type Message, type UserBlock } from '../../common/agent/messages.js'
import { isVendorBlock } from '../ai-sdk/vendor-block.js'

/** Drops blank text blocks: the API returns such blocks, but does not accept them in requests. */
export function withoutBlankText<Block extends AssistantBlock | UserBlock>(
  content: readonly Block[],
): readonly Block[] {
  return content.filter((block) => !(block.type === 'text' && 'text' in block && isBlank(block.text)))
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

/**
 * The conversation in a form that the API accepts: without blank text, without empty messages, and without blocks that
 * only another provider of the same conversation knows. `sendable-request.ts` does what all providers need.
 */
export function toSendable(messages: readonly Message[]): readonly Message[] {
  return messages
    .map((message): Message =>
      message.role === 'user'
        ? { role: 'user', content: withoutBlankText(message.content) }
        : { role: 'assistant', content: withoutBlankText(message.content).flatMap(toSendableBlock) },
    )
    .filter(({ content }) => content.length > 0)
}

function toSendableBlock(block: AssistantBlock): readonly AssistantBlock[] {
  if (isVendorBlock(block)) return []
  if (!isToolUseBlock(block)) return [block]
  const { input_problem: _, ...use } = block
  return [use]
}
