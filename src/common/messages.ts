import type { JsonObject } from './json.js'
import type { Held } from './values.js'

/**
 * Content blocks and messages in the shape of Anthropic's Messages API, reduced to what the loop decides on.
 * A block the loop does not know is kept as it came ({@link UnknownBlock}) and sent back unchanged.
 */
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

export interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

/** Any other block (thinking, server tools, what is invented tomorrow): opaque, never dropped. */
export interface UnknownBlock extends JsonObject {
  readonly type: string
}

/** A tool result as the workflow passes it on: some of its text is kept elsewhere, and is put together by who sends it to the model. */
export interface HeldResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly is_error?: boolean
  readonly held: HeldText
}

/** Text in parts; what is over the limit is cut from the middle of it. */
export interface HeldText {
  readonly parts: readonly Held[]
  /** Characters. */
  readonly limit: number
  /** Stands behind it, uncut. */
  readonly after: string
}

/** What the user's side says in one turn. */
export type SaidBlock = UserBlock | HeldResultBlock

export type AssistantBlock = TextBlock | ToolUseBlock | UnknownBlock

export type UserBlock = TextBlock | ToolResultBlock

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantBlock[]
}

export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly UserBlock[]
}

export type Message = AssistantMessage | UserMessage

/** Why the model stopped; `string` because new reasons appear. */
export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded'
  | (string & {})

/** Tokens of one model call or of a whole run. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** One recorded reply of the model. */
export interface ModelReply {
  readonly model: string
  readonly content: readonly AssistantBlock[]
  readonly stopReason: StopReason
  readonly usage: Usage
  /** US dollars; null when the price of the model is not known. */
  readonly costUsd: number | null
  /** The provider's request id, for support tickets. */
  readonly requestId: string | null
}

export function isText(block: AssistantBlock): block is TextBlock {
  return block.type === 'text' && typeof (block as TextBlock).text === 'string'
}

export function isToolUse(block: AssistantBlock): block is ToolUseBlock {
  return block.type === 'tool_use'
}
