import { isThinkingBlock, isToolUseBlock, type Message } from '../../../common/runs/messages.js'

/**
 * Where the messages may be divided into those that a summary replaces and those that stay: before a reply that follows
 * a message of the user, when each `tool_use` before it has its `tool_result` before it.
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

/** The first message of the user, a reply and its results: less is not worth a summary. */
const fewestMessages = 3

/**
 * The position of the first message that stays, so that as many as fit into `keptCharacters` stay, and the last reply
 * in any case. Undefined when the messages have no safe split.
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

/** Characters of messages as JSON, for estimates of tokens. */
export function countCharacters(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0)
}

/**
 * Without thinking. Newer models of Anthropic refuse thinking of replies whose earlier messages have changed, and none
 * needs it back.
 */
export function withoutThinking<M extends Message>(messages: readonly M[]): readonly M[] {
  return messages.flatMap((message): readonly M[] => {
    if (message.role === 'user') return [message]
    const content = message.content.filter((block) => !isThinkingBlock(block))
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}
