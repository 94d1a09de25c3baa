import { digestJson } from '../../common/calls/call-identity.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Attachment } from '../../common/runs/attachments.js'
import { attachmentOf, isMedia, isResult, textOf, toResult, type ClientResult } from './blocks.js'
import { BadRequest } from './errors.js'
import type { ApiMessage, Block } from './join-messages.js'

/** A message of a person. */
interface NewMessage {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** Results of calls, and what the user says beside them. */
interface SentResults {
  readonly results: readonly ClientResult[]
  readonly others: readonly Block[]
}

/** The results that the last message has; undefined when it has none. */
export function resultsOf(messages: readonly ApiMessage[]): SentResults | undefined {
  const { content } = lastOf(messages)
  const results = content.filter(isResult)
  if (results.length === 0) return undefined
  return { results: results.map(toResult), others: content.filter((block) => !isResult(block)) }
}

/**
 * The last message as a conversation takes one beside its earlier messages: images and PDFs with their data, then
 * texts. Undefined for any other.
 *
 * @throws BadRequest
 */
export function newMessageOf(messages: readonly ApiMessage[]): NewMessage | undefined {
  const { content } = lastOf(messages)
  const attachments = content.filter(isMedia).map(attachmentOf)
  const texts = content.slice(attachments.length)
  if (attachments.some((each) => !each) || !texts.every(({ type }) => type === 'text')) return undefined
  const text = texts.map((block) => textOf(block['text'])).join('\n\n')
  if (text.trim() === '') throw new BadRequest('messages: the last message has no text')
  return { text, attachments: attachments.filter((each) => each !== undefined) }
}

/** Identifies messages up to and including the last one. Breakpoints of the prompt cache do not matter. */
export function digestMessages(messages: readonly ApiMessage[]): string {
  return digestJson(messages.map(({ role, content }) => [role, content.map(withoutCache)]) as JsonValue)
}

/** The position of the last message of a person; -1 when there is none. */
export function lastPersonal(messages: readonly ApiMessage[]): number {
  return messages.findLastIndex(({ role, content }) => role === 'user' && !content.every(isResult))
}

/** @throws BadRequest when the last message is not of the user, or empty */
function lastOf(messages: readonly ApiMessage[]): ApiMessage {
  const last = messages.at(-1)
  if (last?.role !== 'user')
    throw new BadRequest(
      'messages: the last message must be of the user: an answer of the client (prefill) is not continued',
    )
  if (last.content.length === 0) throw new BadRequest('messages: the last message has no text')
  return last
}

function withoutCache(block: Block): JsonObject {
  const { cache_control: _, ...plain } = block
  return plain as JsonObject
}
