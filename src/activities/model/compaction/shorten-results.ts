import type { StoredMessage, UserBlock } from '../../../common/agent/messages.js'
import { utf8Length, takeEnd, takeStart } from '../../../common/text/text.js'
import { cutNote } from '../../../models/prompt/read-more-tool.js'
import { withoutThinking } from './split-messages.js'

/** Longer results are shortened to their start and their end. */
const maxCharacters = 2_000
const headCharacters = 800
const tailCharacters = 400

export interface ShortenedMessages {
  readonly messages: readonly StoredMessage[]
  /** Number of shortened results. */
  readonly shortened: number
}

/**
 * Shortens the results of tools in old messages, and leaves out the thinking after them.
 *
 * @param recentTurns results that this number of latest replies could read stay whole
 */
export function shortenOldResults(messages: readonly StoredMessage[], recentTurns: number): ShortenedMessages {
  const end = startOfRecentTurns(messages, recentTurns)
  let shortened = 0
  let firstChanged = messages.length
  const changed = messages.map((message, position): StoredMessage => {
    if (position >= end || message.role !== 'user') return message
    const removed = new Map<string, readonly [string]>()
    const content = message.content.map((block) => {
      const text = textToShorten(block)
      if (text === undefined || block.type !== 'tool_result') return block
      removed.set(block.tool_use_id, [text])
      return { ...block, content: shorten(text, block.tool_use_id) }
    })
    const count = removed.size
    if (count === 0) return message
    shortened += count
    firstChanged = Math.min(firstChanged, position)
    // A result that was cut before has a reference already.
    return { ...message, content, whole: { ...Object.fromEntries(removed), ...message.whole } }
  })
  const unchanged = messages.slice(0, firstChanged)
  return { messages: [...unchanged, ...withoutThinking(changed.slice(firstChanged))], shortened }
}

/**
 * Returns the position of the first message that the latest replies answered directly; 0 when there are no more
 * replies.
 */
function startOfRecentTurns(messages: readonly StoredMessage[], recentTurns: number): number {
  const replies = messages.flatMap(({ role }, position) => (role === 'assistant' ? [position] : []))
  return Math.max(0, (replies.at(-recentTurns) ?? 0) - 1)
}

/**
 * Returns the text of a result that may be shortened. In messages from a client, the content may be a list of blocks.
 */
function textToShorten(block: UserBlock): string | undefined {
  if (block.type !== 'tool_result') return undefined
  const content: unknown = block.content
  return typeof content === 'string' && content.length > maxCharacters ? content : undefined
}

function shorten(text: string, id: string): string {
  const head = takeStart(text, headCharacters)
  const tail = takeEnd(text, tailCharacters)
  const bytes = utf8Length(text) - utf8Length(head) - utf8Length(tail)
  const short = `${head}\n[... ${bytes} bytes of this old result were removed ...]\n${tail}`
  return short.endsWith(cutNote(id)) ? short : `${short}\n${cutNote(id)}`
}
