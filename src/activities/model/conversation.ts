import { defined } from '../../common/defined.js'
import type { ValueLog } from '../../common/json/value-log.js'
import {
  type AssistantBlock,
  isTextBlock,
  isThinkingBlock,
  isToolUseBlock,
  type Message,
  type PendingBlock,
  type StoredMessage,
  type TextBlock,
  toMessage,
  type ToolUseBlock,
  type UserBlock,
  type WholeResults,
} from '../../common/agent/messages.js'
import type { ModelId } from '../../common/run/run-config.js'
import { cutNote } from '../../models/prompt/read-more-tool.js'
import type { Values } from '../../values/values.js'
import { appendToLog, readLog } from '../../values/value-log.js'
import { toUserBlock } from '../../values/text-parts.js'

const neededBy = 'the conversation'

/** Loads the messages of earlier turns. */
export function loadMessages(
  values: Values,
  history: ValueLog | null,
  signal: AbortSignal,
): Promise<readonly StoredMessage[]> {
  return readLog<StoredMessage>(values, history, neededBy, signal)
}

/**
 * Loads the pending user message. There is none when the turn continues a truncated reply.
 *
 * @param readMore true when the model may read the rest of a truncated result
 */
export async function loadPending(
  values: Values,
  pending: readonly PendingBlock[],
  readMore: boolean,
  signal: AbortSignal,
): Promise<readonly StoredMessage[]> {
  if (pending.length === 0) return []
  const whole = new Map<string, WholeResults[string]>()
  const load = async (pendingBlock: PendingBlock): Promise<UserBlock> => {
    const { block, whole: parts } = await toUserBlock(values, pendingBlock, signal)
    if (!readMore || parts === undefined || block.type !== 'tool_result') return block
    whole.set(block.tool_use_id, parts)
    return { ...block, content: `${block.content.trimEnd()}\n${cutNote(block.tool_use_id)}` }
  }
  const content = await Promise.all(pending.map(load))
  return [{ role: 'user', content, ...(whole.size > 0 && { whole: Object.fromEntries(whole) }) }]
}

/** Returns a reply for the stored conversation. */
export function toStored(content: readonly AssistantBlock[], model: ModelId): Message {
  return { role: 'assistant', content, ...(!content.every(isForAll) && { model: nameOf(model) }) }
}

/**
 * A stored message as the model gets it. Thinking is signed for the model that wrote it; the other blocks of a server,
 * and what it has added to a text or a tool use, are for its provider: any other one would refuse the request.
 *
 * @param isHosted true when all providers of the run execute code: then each reads the blocks about code of the others
 */
export function toSent(message: StoredMessage, model: ModelId, isHosted: boolean): Message {
  if (message.role === 'user' || message.model === undefined) return toMessage(message)
  const { content, model: author } = message
  if (author === nameOf(model)) return { role: 'assistant', content }
  const isOfProvider = author.startsWith(`${model.provider}/`)
  const sent = content.flatMap((block): readonly AssistantBlock[] => {
    if (isTextBlock(block) || isToolUseBlock(block)) return [isOfProvider ? block : toPlain(block, isHosted)]
    return (isOfProvider || isHosted) && !isThinkingBlock(block) ? [block] : []
  })
  return { role: 'assistant', content: sent }
}

/** A block with the members that every provider can read. */
function toPlain(block: TextBlock | ToolUseBlock, isHosted: boolean): TextBlock | ToolUseBlock {
  if (block.type === 'text') return { type: block.type, text: block.text }
  const { type, id, name, input, input_problem: problem, caller } = block
  return {
    type,
    id,
    name,
    input,
    ...defined({ input_problem: problem }),
    ...(isHosted && caller && { caller }),
  }
}

/** Every provider can read the block as it is. */
function isForAll(block: AssistantBlock): boolean {
  if (!isTextBlock(block) && !isToolUseBlock(block)) return false
  const plain = toPlain(block, false)
  return Object.keys(block).every((member) => Object.hasOwn(plain, member))
}

function nameOf({ provider, name }: ModelId): string {
  return `${provider}/${name}`
}

/** Appends one turn to the conversation. */
export function appendTurn(
  values: Values,
  history: ValueLog | null,
  messages: readonly StoredMessage[],
  signal: AbortSignal,
): Promise<ValueLog> {
  return appendToLog(values, history, messages, neededBy, signal)
}
