import type { JsonObject } from '../json/json.js'
import type { Externalizable } from '../json/external-value.js'

/**
 * Content blocks and messages in the shape of Anthropic's Messages API, reduced to the fields that the agent loop uses.
 * Other blocks ({@link UnknownBlock}) are stored and sent back unchanged.
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
  /** For the model: why the input could not be used. Such a tool use is not executed. */
  readonly input_problem?: string
  /** The caller, in the format of the Messages API. Absent: the model. */
  readonly caller?: ToolUseCaller
}

/** The model (`direct`), or code that the API executes: `tool_id` is the server tool use with the code. */
export interface ToolUseCaller {
  readonly type: string
  readonly tool_id?: string
}

interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

/** An image or a PDF. */
export interface MediaBlock {
  readonly type: 'image' | 'document'
  readonly source: {
    readonly type: 'base64'
    readonly media_type: string
    /** The data is a reference in workflows and in the stored conversation, and base64 in a request. */
    readonly data: Externalizable<string>
  }
  /** Name of a document. */
  readonly title?: string
}

/** Any other block (thinking, server tools, future types): opaque, never dropped. */
export interface UnknownBlock extends JsonObject {
  readonly type: string
}

/** A tool result with external parts. Activity `model.turn` joins them into a {@link ToolResultBlock}. */
interface ExternalToolResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly is_error?: boolean
  readonly externalContent: TextParts
}

/** Text in parts: joined, and truncated in the middle to `limit` characters. */
export interface TextParts {
  readonly parts: readonly Externalizable[]
  readonly limit: number
  /** A text that is appended in full. */
  readonly suffix: string
  /** True when the reader gets the text that a terminal would show. */
  readonly isTerminal?: true
}

/** A block of the next user message: complete, or with external parts. */
export type PendingBlock = UserBlock | ExternalToolResult

export type AssistantBlock = TextBlock | ToolUseBlock | UnknownBlock

export type UserBlock = TextBlock | ToolResultBlock | MediaBlock

interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantBlock[]
  /**
   * In the stored conversation, of a reply with more than plain text and tool uses: the model that wrote it, as
   * `PROVIDER/MODEL`.
   */
  readonly model?: string
}

interface UserMessage {
  readonly role: 'user'
  readonly content: readonly UserBlock[]
}

export type Message = AssistantMessage | UserMessage

/**
 * A message in the value store. Tool `read_more` reads the whole results of which the model got only a part. Only
 * activities add them: messages from a client have none, so a client can't forge a reference.
 */
export type StoredMessage = Message & { readonly whole?: WholeResults }

/** The whole texts of results, in parts, by `tool_use_id`. */
export type WholeResults = Readonly<Record<string, readonly Externalizable[]>>

/** Returns the message for a provider. */
export function toMessage({ role, content }: StoredMessage): Message {
  return { role, content } as Message
}

/** Why the model stopped; a `string`, because the API may add reasons. */
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

/** The container in which an API executes the code of a conversation. */
export interface CodeContainer {
  readonly id: string
  /** ISO 8601; null when the API did not give a time. */
  readonly expiresAt: string | null
}

/** One reply of the model. */
export interface ModelReply {
  readonly model: string
  readonly content: readonly AssistantBlock[]
  readonly stopReason: StopReason
  /** The stop sequence at which the model stopped, if the provider reports it. Absent: none. */
  readonly stopSequence?: string
  readonly usage: Usage
  /** US dollars; null when the price of the model is unknown. */
  readonly costUsd: number | null
  /** The provider's request id, for support requests. */
  readonly requestId: string | null
  /** The container in which the API executes code; absent without one. */
  readonly container?: CodeContainer
  /**
   * The parts of the messages that the provider has removed before the model read them, in the format of its API.
   * Absent: none.
   */
  readonly contextEdits?: readonly JsonObject[]
}

export function isTextBlock(block: AssistantBlock): block is TextBlock {
  return block.type === 'text' && typeof (block as TextBlock).text === 'string'
}

export function isToolUseBlock(block: AssistantBlock): block is ToolUseBlock {
  return block.type === 'tool_use'
}

export function isToolResultBlock(block: AssistantBlock | UserBlock): block is ToolResultBlock {
  return block.type === 'tool_result'
}

export function isMediaBlock(block: AssistantBlock | UserBlock): block is MediaBlock {
  return (block.type === 'image' || block.type === 'document') && 'source' in block
}

export function isThinkingBlock({ type }: AssistantBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}
