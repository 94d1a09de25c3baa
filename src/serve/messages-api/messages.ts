import { digestJson } from '../../common/calls/call-identity.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import {
  attachmentOf,
  isMedia,
  isResult,
  textOf,
  toResult,
  type ClientResult,
  type ApiMessage,
  type Block,
} from './blocks.js'
import { BadRequest } from './errors.js'

/** A message in the form in which a client sends it. */
interface SentMessage {
  readonly role: ApiMessage['role'] | 'system'
  readonly content: readonly Block[]
}

interface JoinedMessages {
  /** The texts of system messages that precede all others: a part of the system prompt. */
  readonly system: readonly string[]
  readonly messages: readonly ApiMessage[]
}

/**
 * Joins consecutive messages of one role, as the API does. A system message after other messages becomes a text of the
 * user, because few models accept such messages.
 *
 * @throws BadRequest
 */
export function joinMessages(sent: readonly SentMessage[]): JoinedMessages {
  const begin = sent.findIndex(({ role }) => role !== 'system')
  if (begin === -1) throw new BadRequest('messages: a message of the user is missing')
  const messages: { role: ApiMessage['role']; content: Block[] }[] = []
  for (const { role, content } of sent.slice(begin)) {
    const added = role === 'system' ? systemTexts(content).map(toReminder) : content
    const toRole = role === 'system' ? 'user' : role
    const last = messages.at(-1)
    if (last?.role === toRole) for (const block of added) last.content.push(block)
    else messages.push({ role: toRole, content: [...added] })
  }
  return { system: sent.slice(0, begin).flatMap(({ content }) => systemTexts(content)), messages }
}

function systemTexts(content: readonly Block[]): readonly string[] {
  return content.map(({ type, text }) => {
    if (type === 'text' && typeof text === 'string') return text
    throw new BadRequest('messages: a message of role system has texts only')
  })
}

function toReminder(text: string): Block {
  return { type: 'text', text: `<system>\n${text}\n</system>` }
}

/** A message written by a person. */
interface NewMessage {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** Results of calls, and texts of the user that come with them. */
export interface SentResults {
  readonly results: readonly ClientResult[]
  readonly others: readonly Block[]
}

/** The results in the last message; undefined when it has none. */
export function resultsOf(messages: readonly ApiMessage[]): SentResults | undefined {
  const { content } = lastOf(messages)
  const results = content.filter(isResult)
  if (results.length === 0) return undefined
  return { results: results.map(toResult), others: content.filter((block) => !isResult(block)) }
}

/**
 * The last message as a conversation takes it after the earlier messages: images and PDFs with their data, then texts.
 * Undefined when the message has other blocks.
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

/** A digest of messages up to and including the last one. Ignores breakpoints of the prompt cache. */
export function digestMessages(messages: readonly ApiMessage[]): string {
  return digestJson(messages.map(({ role, content }) => [role, content.map(withoutCache)]) as JsonValue)
}

/** The position of the last message of a person; -1 when there is none. */
export function lastPersonal(messages: readonly ApiMessage[]): number {
  return messages.findLastIndex(({ role, content }) => role === 'user' && !content.every(isResult))
}

/** @throws BadRequest when the last message is empty, or not from the user */
function lastOf(messages: readonly ApiMessage[]): ApiMessage {
  const last = messages.at(-1)
  if (last?.role !== 'user')
    throw new BadRequest(
      'messages: the last message must be from the user; this server does not continue a message of the assistant (prefill)',
    )
  if (last.content.length === 0) throw new BadRequest('messages: the last message has no text')
  return last
}

function withoutCache(block: Block): JsonObject {
  const { cache_control: _, ...plain } = block
  return plain as JsonObject
}
