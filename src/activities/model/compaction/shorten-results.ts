import type { Message, UserBlock } from '../../../common/runs/messages.js'
import { withoutThinking } from './split-messages.js'

/** A longer result is shortened, to its beginning and its end. */
const maxCharacters = 2_000
const headCharacters = 800
const tailCharacters = 400

export interface ShortenedMessages {
  readonly messages: readonly Message[]
  /** How many results were shortened. */
  readonly shortened: number
}

/**
 * Shortens the results of tools in old messages, and leaves out the thinking after them.
 *
 * @param recentTurns the results that the last so many replies could read stay whole
 */
export function shortenOldResults(messages: readonly Message[], recentTurns: number): ShortenedMessages {
  const end = startOfRecentTurns(messages, recentTurns)
  let shortened = 0
  let firstChanged = messages.length
  const changed = messages.map((message, position): Message => {
    if (position >= end || message.role !== 'user') return message
    const content = message.content.map((block) => {
      const short = shorten(block)
      if (short === block) return block
      shortened += 1
      firstChanged = Math.min(firstChanged, position)
      return short
    })
    return { ...message, content }
  })
  const unchanged = messages.slice(0, firstChanged)
  return { messages: [...unchanged, ...withoutThinking(changed.slice(firstChanged))], shortened }
}

/** Position of the first message that the last replies answered directly; 0 when there are no more replies. */
function startOfRecentTurns(messages: readonly Message[], recentTurns: number): number {
  const replies = messages.flatMap(({ role }, position) => (role === 'assistant' ? [position] : []))
  return Math.max(0, (replies.at(-recentTurns) ?? 0) - 1)
}

function shorten(block: UserBlock): UserBlock {
  if (block.type !== 'tool_result') return block
  const { content } = block
  // Messages from elsewhere may have a list of blocks.
  if (typeof content !== 'string' || content.length <= maxCharacters) return block
  const head = content.slice(0, headCharacters)
  const tail = content.slice(-tailCharacters)
  const bytes = Buffer.byteLength(content) - Buffer.byteLength(head) - Buffer.byteLength(tail)
  return { ...block, content: `${head}\n[... ${bytes} bytes of this old result were removed ...]\n${tail}` }
}
