import { BadRequest } from './errors.js'

/** A content block; `conversion.ts` reads the types that it knows. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string }

export interface ApiMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

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
