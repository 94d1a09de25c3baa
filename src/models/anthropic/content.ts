import type { AssistantBlock, Message, UserBlock } from '../../common/messages.js'

/** Drops blank text blocks: the API returns such blocks, but does not accept them in requests. */
export function withoutBlankText<Block extends AssistantBlock | UserBlock>(
  content: readonly Block[],
): readonly Block[] {
  return content.filter((block) => !(block.type === 'text' && 'text' in block && isBlank(block.text)))
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

/** The conversation in a form that the API accepts: without blank text, and without empty messages. */
export function toSendable(messages: readonly Message[]): readonly Message[] {
  return messages
    .map((message): Message =>
      message.role === 'user'
        ? { role: 'user', content: withoutBlankText(message.content) }
        : { role: 'assistant', content: withoutBlankText(message.content) },
    )
    .filter(({ content }) => content.length > 0)
}
