import type { ValueLog } from '../../common/json/value-log.js'
import type { PendingBlock, StoredMessage, UserBlock, WholeResults } from '../../common/runs/messages.js'
import { cutNote } from '../../models/read-more-tool.js'
import type { Values } from '../../values/values.js'
import { appendToLog, readLog } from '../../values/value-log.js'
import { toCutBlock } from '../../values/text-parts.js'

const neededBy = 'the conversation'

/** The messages of earlier turns. */
export function loadMessages(
  values: Values,
  history: ValueLog | null,
  signal: AbortSignal,
): Promise<readonly StoredMessage[]> {
  return readLog<StoredMessage>(values, history, neededBy, signal)
}

/**
 * The pending user message; none to continue a truncated reply.
 *
 * @param readMore the model may read the rest of a result that is cut
 */
export async function loadPending(
  values: Values,
  pending: readonly PendingBlock[],
  readMore: boolean,
  signal: AbortSignal,
): Promise<readonly StoredMessage[]> {
  if (pending.length === 0) return []
  const whole: Record<string, WholeResults[string]> = {}
  const load = async (pendingBlock: PendingBlock): Promise<UserBlock> => {
    const { block, whole: parts } = await toCutBlock(values, pendingBlock, signal)
    if (!readMore || parts === undefined || block.type !== 'tool_result') return block
    whole[block.tool_use_id] = parts
    return { ...block, content: `${block.content.trimEnd()}\n${cutNote(block.tool_use_id)}` }
  }
  const content = await Promise.all(pending.map(load))
  return [{ role: 'user', content, ...(Object.keys(whole).length > 0 && { whole }) }]
}

/** The conversation extended by one turn. */
export function appendTurn(
  values: Values,
  history: ValueLog | null,
  messages: readonly StoredMessage[],
  signal: AbortSignal,
): Promise<ValueLog> {
  return appendToLog(values, history, messages, neededBy, signal)
}
