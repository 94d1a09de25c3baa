import { digestJson } from '../../../common/calls/call-identity.js'
import type { JsonValue } from '../../../common/json/json.js'
import { answersCode } from '../request/check-code-calls.js'
import { isTextBlock, isToolResult, type MessagesRequest, type RequestMessage } from '../request/request-schema.js'
import { withoutCacheControl } from '../request/token-count.js'

/** State of a conversation, from which a script chooses a turn. */
export interface ConversationState {
  /**
   * Digest of the messages and `metadata.user_id`, the same for all attempts of a turn. Two runs with the same messages
   * share it unless they set different user ids.
   */
  readonly key: string
  readonly assistantMessages: number
  /** Text of the first user message. */
  readonly firstUserText: string
  /** Text of the last message; undefined without text. */
  readonly lastUserText: string | undefined
  /** Texts of all tool results, in order. */
  readonly toolResults: readonly string[]
  /** The `tool_use_id` of the last tool result of the whole conversation; undefined without one. */
  readonly lastToolUseId: string | undefined
  /** Text of the last tool result in the last message; undefined without a tool result. */
  readonly lastToolResult: string | undefined
  /** Whether the last message answers calls of code that the API executes. */
  readonly answersCode: boolean
}

export function conversationState({ messages, metadata }: MessagesRequest): ConversationState {
  const last = messages.at(-1)
  return {
    // The messages are parsed JSON.
    key: digestJson([withoutCacheControl(messages) as JsonValue, metadata?.user_id ?? null]),
    assistantMessages: messages.filter(({ role }) => role === 'assistant').length,
    firstUserText: textOf(messages[0]) ?? '',
    lastUserText: textOf(last),
    toolResults: messages.flatMap(toolResultsOf),
    lastToolUseId: messages.flatMap(({ content }) => content.filter(isToolResult)).at(-1)?.tool_use_id,
    lastToolResult: last === undefined ? undefined : toolResultsOf(last).at(-1),
    answersCode: answersCode(messages),
  }
}

function textOf(message: RequestMessage | undefined): string | undefined {
  const texts = message?.content.filter(isTextBlock).map(({ text }) => text) ?? []
  return texts.length === 0 ? undefined : texts.join('\n')
}

function toolResultsOf({ content }: RequestMessage): readonly string[] {
  return content.filter(isToolResult).map(({ content: inner = [] }) => {
    return inner.map((block) => ('text' in block && typeof block.text === 'string' ? block.text : '')).join('\n')
  })
}
