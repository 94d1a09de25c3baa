import { type AssistantBlock, isTextBlock, isToolUseBlock, type UserBlock } from '../../common/agent/messages.js'
import type { Effort } from '../../common/agent/model-settings.js'
import type { JsonObject } from '../../common/json/json.js'
import { describeWithExamples } from '../http/describe-examples.js'
import type { ModelRequest, ModelTool } from '../provider.js'
import { type Media, mediaOf } from './media.js'

// The common parts of the requests of both APIs.

/** Models of OpenAI decide themselves how much they think: their API has no number of thinking tokens. */
export function toEffort({ thinking, effort }: ModelRequest): Effort | 'none' | undefined {
  return thinking === 'off' ? 'none' : effort
}

/** A choice that is not a specific tool. */
export function toMode(type: 'auto' | 'any' | 'none'): 'auto' | 'required' | 'none' {
  return type === 'any' ? 'required' : type
}

/** The definition of a function. */
export function toFunction(tool: ModelTool): {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
} {
  const { name, inputSchema } = tool
  return { name, description: describeWithExamples(tool), parameters: { ...inputSchema, type: 'object' } }
}

type ToolResult = Extract<UserBlock, { readonly type: 'tool_result' }>

/**
 * A message of the user: the results of tools, which must follow the reply with the calls, and then the other blocks as
 * one message.
 */
export function toUserParts<Result, Part>(
  content: readonly UserBlock[],
  toResult: (result: ToolResult) => Result,
  toMediaPart: (media: Media) => Part,
  toTextPart: (text: string) => Part,
): readonly (Result | { readonly role: 'user'; readonly content: string | Part[] })[] {
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [toResult(block)] : []))
  const text = joinTexts(content.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
  const media = content.flatMap((block) => mediaOf(block) ?? []).map(toMediaPart)
  if (media.length === 0) return text === '' ? results : [...results, { role: 'user', content: text }]
  return [...results, { role: 'user', content: [...media, ...(text === '' ? [] : [toTextPart(text)])] }]
}

interface SentCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** The text and the calls of a reply. An empty text: the reply has none. */
export function toReplyParts<Call>(
  content: readonly AssistantBlock[],
  toCall: (call: SentCall, position: number) => Call,
): { readonly text: string; readonly calls: Call[] } {
  return {
    text: joinTexts(content.filter(isTextBlock).map((block) => block.text)),
    calls: content
      .filter(isToolUseBlock)
      .map(({ id, name, input }, position) => toCall({ id, name, arguments: JSON.stringify(input) }, position)),
  }
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n')
}
