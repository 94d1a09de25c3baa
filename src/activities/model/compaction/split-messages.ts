import { isThinkingBlock, isToolUseBlock, type Message } from '../../../common/agent/messages.js'

/**
 * Returns the positions at which the messages may be divided into those that a summary replaces and those that stay.
 * Such a position is before a reply that follows a message of the user, when each earlier `tool_use` has its
 * `tool_result` before the position.
 */
function safeSplits(messages: readonly Message[]): readonly number[] {
  const open = new Set<string>()
  const splits: number[] = []
  for (const [position, message] of messages.entries()) {
    if (message.role === 'assistant') {
      if (open.size === 0 && messages[position - 1]?.role === 'user') splits.push(position)
      for (const block of message.content) if (isToolUseBlock(block)) open.add(block.id)
    } else {
      for (const block of message.content) if (block.type === 'tool_result') open.delete(block.tool_use_id)
    }
  }
  return splits
}

/** The minimum for a summary: the first message of the user, a reply and its results. */
const fewestMessages = 3

/**
 * Returns the position of the first message that stays. As many messages stay as fit into `keptCharacters`, and always
 * the last reply. Returns undefined when the messages have no safe split.
 */
export function splitMessages(messages: readonly Message[], keptCharacters: number): number | undefined {
  let characters = 0
  const kept = new Map<number, number>()
  for (const [position, message] of [...messages.entries()].toReversed()) {
    characters += countCharacters([message])
    kept.set(position, characters)
  }
  const splits = safeSplits(messages).filter((position) => position >= fewestMessages)
  return splits.find((position) => (kept.get(position) ?? 0) <= keptCharacters) ?? splits.at(-1)
}

/** Counts the characters of messages as JSON, for estimates of tokens. */
export function countCharacters(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0)
}

/**
 * Removes thinking. Newer models of Anthropic refuse the thinking of a reply after a change of earlier messages, and no
 * model needs it.
 */
export function withoutThinking<M extends Message>(messages: readonly M[]): readonly M[] {
  return messages.flatMap((message): readonly M[] => {
    if (message.role === 'user') return [message]
    const content = message.content.filter((block) => !isThinkingBlock(block))
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}
