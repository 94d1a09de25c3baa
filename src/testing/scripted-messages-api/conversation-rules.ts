import { cacheControlOf } from './block-schema.js'
import { invalid } from './refusal.js'
import { takesPrefill, takesSystemMessages } from './model-traits.js'
import { isTextBlock, isToolResult, type RequestBlock, type RequestMessage } from './request-schema.js'
import { checkToolPairing } from './tool-pairing.js'

type Messages = readonly RequestMessage[]

/**
 * The rules between messages, in the words of the real API.
 *
 * @throws ApiRefusal
 */
export function checkConversation(messages: Messages, model: string): void {
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  checkRoles(messages, model)
  checkContent(messages)
  checkToolPairing(messages)
  checkPrefill(messages, model)
}

function checkRoles(messages: Messages, model: string): void {
  for (const [index, { role }] of messages.entries()) {
    if (role === 'system') {
      if (index > 0 && takesSystemMessages(model)) continue
      throw invalid(
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      )
    }
    if (role !== 'user' && role !== 'assistant') {
      throw invalid(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant"`)
    }
  }
  if (messages[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role')
}

function checkContent(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    const isFinalAssistant = index === messages.length - 1 && role === 'assistant'
    if (content.length === 0 && !isFinalAssistant) {
      throw invalid(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      )
    }
    for (const [position, block] of content.entries()) {
      checkPlace(block, role, index)
      checkTexts(block, `messages.${index}.content.${position}`)
    }
  }
}

function checkPlace(block: RequestBlock, role: string, index: number): void {
  if (role === 'system' && block.type !== 'text') {
    throw invalid(`messages.${index}: \`system\` messages can only have \`text\` blocks`)
  }
  if (block.type === 'tool_result' && role === 'assistant') {
    throw invalid(`messages.${index}: \`tool_result\` blocks can only be in \`user\` messages`)
  }
  if (block.type === 'tool_use' && role === 'user') {
    throw invalid(`messages.${index}: \`tool_use\` blocks can only be in \`assistant\` messages`)
  }
}

/**
 * What API version 2026-10-21 no longer lets stand where it stands.
 *
 * @throws ApiRefusal (the texts are this server's own: no public source quotes them)
 */
export function checkPlacesSince2026(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    for (const [position, block] of content.entries()) {
      if (role === 'assistant' && block.type === 'document') {
        throw invalid(`messages.${index}: \`document\` blocks can only be in \`user\` messages`)
      }
      if (role === 'user' && isTextBlock(block) && (block.citations ?? []).length > 0) {
        throw invalid(
          `messages.${index}.content.${position}.text.citations: citations are not permitted in \`user\` messages`,
        )
      }
    }
  }
}

/** Empty and blank text, also inside a tool result. */
function checkTexts(block: RequestBlock, path: string): void {
  const nested = isToolResult(block) ? (block.content ?? []) : [block]
  for (const inner of nested) {
    if (inner.type !== 'text' || typeof inner['text'] !== 'string') continue
    checkText(inner['text'], cacheControlOf(inner) !== undefined, 'messages', `${path}.text`)
  }
}

/**
 * @param scope what an empty block is reported under: `messages` or `system`
 * @throws ApiRefusal
 */
export function checkText(text: string, cached: boolean, scope: string, path: string): void {
  if (text === '') {
    throw invalid(
      cached
        ? `${path}: cache_control cannot be set for empty text blocks`
        : `${scope}: text content blocks must be non-empty`,
    )
  }
  if (text.trim() === '') throw invalid(`${scope}: text content blocks must contain non-whitespace text`)
}

function checkPrefill(messages: Messages, model: string): void {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block === undefined || !isTextBlock(block)) return
  // A paused server tool is resumed by sending its message back: no prefill.
  if (last.content.some(({ type }) => type === 'server_tool_use')) return
  if (!takesPrefill(model)) {
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  if (block.text !== block.text.trimEnd()) {
    throw invalid('messages: final assistant content cannot end with trailing whitespace')
  }
}
