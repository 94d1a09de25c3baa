import { cacheControlOf } from './block-schema.js'
import { invalidRequest } from './api-error.js'
import { isTextBlock, isToolResult, type RequestBlock, type RequestMessage } from './request-schema.js'
import { checkToolPairing } from './check-tool-pairing.js'

type Messages = readonly RequestMessage[]

/**
 * Checks the rules between messages, with the texts of the real API.
 *
 * @throws ApiError
 */
export function checkConversation(messages: Messages, model: string): void {
  if (messages.length === 0) throw invalidRequest('messages: at least one message is required')
  checkRoles(messages, model)
  checkContent(messages)
  checkToolPairing(messages)
  checkPrefill(messages, model)
}

function checkRoles(messages: Messages, model: string): void {
  for (const [index, { role }] of messages.entries()) {
    if (role === 'system') {
      if (index > 0 && supportsSystemMessages(model)) continue
      throw invalidRequest(
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      )
    }
    if (role !== 'user' && role !== 'assistant') {
      throw invalidRequest(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant"`)
    }
  }
  if (messages[0]?.role !== 'user') throw invalidRequest('messages: first message must use the "user" role')
}

function checkContent(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    const isFinalAssistant = index === messages.length - 1 && role === 'assistant'
    if (content.length === 0 && !isFinalAssistant) {
      throw invalidRequest(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      )
    }
    for (const [position, block] of content.entries()) {
      checkBlockRole(block, role, index)
      checkBlockText(block, `messages.${index}.content.${position}`)
    }
  }
}

function checkBlockRole(block: RequestBlock, role: string, index: number): void {
  if (role === 'system' && block.type !== 'text') {
    throw invalidRequest(`messages.${index}: \`system\` messages can only have \`text\` blocks`)
  }
  if (block.type === 'tool_result' && role === 'assistant') {
    throw invalidRequest(`messages.${index}: \`tool_result\` blocks can only be in \`user\` messages`)
  }
  if (block.type === 'tool_use' && role === 'user') {
    throw invalidRequest(`messages.${index}: \`tool_use\` blocks can only be in \`assistant\` messages`)
  }
}

/**
 * Checks the positions of blocks that API version 2026-10-21 rejects.
 *
 * @throws ApiError (with this server's own texts: no public source quotes the API's)
 */
export function checkBlockRoles20261021(messages: Messages): void {
  for (const [index, { role, content }] of messages.entries()) {
    for (const [position, block] of content.entries()) {
      if (role === 'assistant' && block.type === 'document') {
        throw invalidRequest(`messages.${index}: \`document\` blocks can only be in \`user\` messages`)
      }
      if (role === 'user' && isTextBlock(block) && (block.citations ?? []).length > 0) {
        throw invalidRequest(
          `messages.${index}.content.${position}.text.citations: citations are not permitted in \`user\` messages`,
        )
      }
    }
  }
}

/** Rejects empty and blank text, also inside a tool result. */
function checkBlockText(block: RequestBlock, path: string): void {
  const nested = isToolResult(block) ? (block.content ?? []) : [block]
  for (const inner of nested) {
    if (inner.type !== 'text' || typeof inner['text'] !== 'string') continue
    checkText(inner['text'], cacheControlOf(inner) !== undefined, 'messages', `${path}.text`)
  }
}

/**
 * @param scope prefix of the message: `messages` or `system`
 * @throws ApiError
 */
export function checkText(text: string, cached: boolean, scope: string, path: string): void {
  if (text === '') {
    throw invalidRequest(
      cached
        ? `${path}: cache_control cannot be set for empty text blocks`
        : `${scope}: text content blocks must be non-empty`,
    )
  }
  if (text.trim() === '') throw invalidRequest(`${scope}: text content blocks must contain non-whitespace text`)
}

function checkPrefill(messages: Messages, model: string): void {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block === undefined || !isTextBlock(block)) return
  // Sending back the message of a paused server tool resumes it, and is not a prefill.
  if (last.content.some(({ type }) => type === 'server_tool_use')) return
  if (!supportsPrefill(model)) {
    throw invalidRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  if (block.text !== block.text.trimEnd()) {
    throw invalidRequest('messages: final assistant content cannot end with trailing whitespace')
  }
}

// Features that only some models have, by model name. A name that is not Claude's counts as the newest model.
const upTo4_5 = /^claude-(3|2|instant|(opus|sonnet|haiku)-4(-[0-5])?(-|$))/
const upTo4_7 = /^claude-(opus|sonnet)-4-[67](-|$)/

/** Whether the model continues a final assistant message. */
function supportsPrefill(model: string): boolean {
  return upTo4_5.test(model)
}

/** Whether the model accepts `role: 'system'` in the middle of a conversation. */
function supportsSystemMessages(model: string): boolean {
  return !upTo4_5.test(model) && !upTo4_7.test(model)
}
