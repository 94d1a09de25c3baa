import type { AssistantBlock, Message, UserBlock } from '../../common/messages.js'

/** The API refuses to be sent text without a visible character, though it writes such blocks itself. */
export function withoutBlankText<Block extends AssistantBlock | UserBlock>(
  content: readonly Block[],
): readonly Block[] {
  return content.filter((block) => !(block.type === 'text' && 'text' in block && isBlank(block.text)))
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === ''
}

/** The conversation as the API takes it; a message with nothing in it (an empty reply) is left out. */
export function sendable(messages: readonly Message[]): readonly Message[] {
  return messages
    .map((message): Message =>
      message.role === 'user'
        ? { role: 'user', content: withoutBlankText(message.content) }
        : { role: 'assistant', content: withoutBlankText(message.content) },
    )
    .filter(({ content }) => content.length > 0)
}
