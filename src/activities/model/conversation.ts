import type { ValueLog } from '../../common/json/value-log.js'
import type { AssistantBlock, Message, PendingBlock } from '../../common/runs/messages.js'
import type { ModelId } from '../../common/runs/run-config.js'
import type { Values } from '../../values/values.js'
import { appendToLog, readLog } from '../../values/value-log.js'
import { toUserBlock } from '../../values/text-parts.js'

const neededBy = 'the conversation'

/**
 * The messages for the model: those of earlier turns, and the pending user message (none to continue a truncated
 * reply).
 */
export async function loadMessages(
  values: Values,
  history: ValueLog | null,
  pending: readonly PendingBlock[],
  signal: AbortSignal,
): Promise<{ readonly earlier: readonly Message[]; readonly now: readonly Message[] }> {
  const earlier = await readLog<Message>(values, history, neededBy, signal)
  const content = await Promise.all(pending.map((block) => toUserBlock(values, block, signal)))
  return { earlier, now: content.length === 0 ? [] : [{ role: 'user', content }] }
}

/** A reply for the stored conversation. */
export function toStored(content: readonly AssistantBlock[], model: ModelId): Message {
  return { role: 'assistant', content, ...(content.some(isThinking) && { model: nameOf(model) }) }
}

/**
 * A stored message as the model gets it. Thinking is signed for the model that wrote it: any other one would refuse the
 * request.
 */
export function toSent(message: Message, model: ModelId): Message {
  if (message.role === 'user' || message.model === undefined) return message
  const { content, model: author } = message
  return {
    role: 'assistant',
    content: author === nameOf(model) ? content : content.filter((each) => !isThinking(each)),
  }
}

function isThinking({ type }: AssistantBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function nameOf({ provider, name }: ModelId): string {
  return `${provider}/${name}`
}

/** The conversation extended by one turn. */
export function appendTurn(
  values: Values,
  history: ValueLog | null,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<ValueLog> {
  return appendToLog(values, history, messages, neededBy, signal)
}
