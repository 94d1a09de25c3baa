import type { ValueLog } from '../../common/json/value-log.js'
import type { Message, PendingBlock } from '../../common/runs/messages.js'
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

/** The conversation extended by one turn. */
export function appendTurn(
  values: Values,
  history: ValueLog | null,
  messages: readonly Message[],
  signal: AbortSignal,
): Promise<ValueLog> {
  return appendToLog(values, history, messages, neededBy, signal)
}
