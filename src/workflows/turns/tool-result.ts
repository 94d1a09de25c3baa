import type { CallOutcome } from '../../common/calls/outcomes.js'
import { isExternal } from '../../common/json/external-value.js'
import type { PendingBlock, TextParts, ToolUseBlock } from '../../common/agent/messages.js'
import { jsonToText, truncateMiddle } from '../../common/text/text.js'

/** Returns the outcome of a call for the model, truncated to this number of characters. */
export function outcomeText(outcome: CallOutcome, limit: number): string | TextParts {
  if (outcome.status !== 'ok') return truncateMiddle(`[${outcome.status}] ${outcome.message}`, limit)
  const { value } = outcome
  const text = isExternal(value) ? undefined : jsonToText(value)
  return text !== undefined && text.length <= limit ? text : { parts: [value], limit, suffix: '' }
}

export function toolResult({ id }: ToolUseBlock, text: string | TextParts, isError: boolean): PendingBlock {
  const base = { type: 'tool_result', tool_use_id: id, ...(isError ? { is_error: true } : {}) } as const
  if (typeof text !== 'string') return { ...base, externalContent: text }
  // The API refuses an empty text in some positions.
  return { ...base, content: text === '' ? '(empty)' : text }
}
