import type { JsonObject } from '../../common/json/json.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import { truncateEnd } from '../../common/text/text.js'
import { BadRequest } from './errors.js'

/** A content block; `conversion.ts` reads the types that it knows. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string }

export interface ApiMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** The result of a call in the form in which a client sends it. */
export interface ClientResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

export function isResult({ type }: Block): boolean {
  return type === 'tool_result'
}

export function isMedia({ type }: Block): boolean {
  return type === 'image' || type === 'document'
}

/** @throws BadRequest */
export function toResult({ tool_use_id: id, content, is_error: isError }: Block): ClientResult {
  const text = content === undefined || content === null ? '' : typeof content === 'string' ? content : texts(content)
  return { id: textOf(id), text, isError: isError === true }
}

function texts(content: unknown): string {
  if (!Array.isArray(content)) throw new BadRequest('messages: the content of a tool_result must be a text or a list')
  const found = (content as readonly unknown[]).map((each) => {
    const { type, text } = (each ?? {}) as { readonly type?: unknown; readonly text?: unknown }
    if (type === 'text') return textOf(text)
    throw new BadRequest(`messages: a tool_result has texts only, not ${shown(type)}`)
  })
  return found.join('\n')
}

/**
 * The data of an image or a PDF as an attachment; undefined for a block without data.
 *
 * @throws BadRequest
 */
export function attachmentOf(block: Block): Attachment | undefined {
  const { source, title } = block
  const { type, data } = (source ?? {}) as Block
  checkMedia(block)
  if (type !== 'base64') return undefined
  return { data: textOf(data), ...(typeof title === 'string' && { name: title }) }
}

/**
 * An image or a document in the form for a provider, which reads URLs itself. The text of a document becomes a text
 * block, which every model reads.
 *
 * @throws BadRequest
 */
export function toMediaBlock(block: Block): JsonObject {
  checkMedia(block)
  const { type, source, title } = block
  const { type: kind, data, media_type: mediaType, url } = source as Block
  const named = typeof title === 'string' ? { title } : {}
  switch (kind) {
    case 'base64':
      // A reference in the data would be read from the value store.
      return { type, source: { type: kind, media_type: textOf(mediaType), data: textOf(data) }, ...named }
    case 'url':
      return { type, source: { type: kind, url: textOf(url) }, ...named }
    default:
      return { type: 'text', text: [named.title, textOf(data)].filter((each) => each !== undefined).join('\n\n') }
  }
}

function checkMedia({ type, source, citations, context }: Block): void {
  const { type: kind } = (source ?? {}) as { readonly type?: unknown }
  const kinds: readonly unknown[] = type === 'document' ? ['base64', 'url', 'text'] : ['base64', 'url']
  if (!kinds.includes(kind))
    throw new BadRequest(`messages: a block of type ${type} with a source of type ${shown(kind)} is not supported`)
  const { enabled = false } = (citations ?? {}) as { readonly enabled?: unknown }
  if (enabled !== false) throw new BadRequest('messages: citations are not supported')
  if (typeof context === 'string' && context !== '')
    throw new BadRequest('messages: the context of a document is not supported')
}

/** @throws BadRequest */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new BadRequest('messages: a block lacks a text')
}

function shown(type: unknown): string {
  return typeof type === 'string' ? truncateEnd(type, 100) : 'none'
}
