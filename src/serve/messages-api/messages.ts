import { digestJson } from '../../common/calls/call-identity.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Attachment } from '../../common/runs/attachments.js'
import { executeCodeTool } from '../../common/names.js'
import type { ProviderMessage } from '../../common/runs/conversation.js'
import { BadRequest } from './errors.js'
import type { ApiMessage, Block } from './request.js'

/** The result of a call, as a client sends it. */
export interface ClientResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

/** A message of a person. */
interface NewMessage {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** The results of a request that only continues; undefined for one with a new message. */
export function resultsOf(messages: readonly ApiMessage[]): readonly ClientResult[] | undefined {
  const last = lastOf(messages)
  if (!last.content.some(isResult)) return undefined
  if (last.content.every(isResult)) return last.content.map(toResult)
  throw new BadRequest('messages: a user message with tool_result blocks has nothing else: code waits for the results')
}

export function newMessageOf(messages: readonly ApiMessage[]): NewMessage {
  const { content } = lastOf(messages)
  const texts = content.filter(({ type }) => type === 'text').map(({ text }) => textOf(text))
  const attachments = content.filter(({ type }) => type !== 'text').map(toAttachment)
  const text = texts.join('\n\n')
  if (text.trim() === '') throw new BadRequest('messages: the last message has no text')
  return { text, attachments }
}

/** Identifies messages up to and including the last one. Breakpoints of the prompt cache do not matter. */
export function digestMessages(messages: readonly ApiMessage[]): string {
  return digestJson(messages.map(({ role, content }) => [role, content.map(withoutCache)]) as JsonValue)
}

/** The position of the last message of a person; -1 when there is none. */
export function lastPersonal(messages: readonly ApiMessage[]): number {
  return messages.findLastIndex(({ role, content }) => role === 'user' && !content.every(isResult))
}

/**
 * Messages of a client in the form that the conversation has: code is a tool use of the engine, with its result in the
 * next message of the user, and calls of code are no part of the messages.
 *
 * @throws BadRequest when a tool use has no result
 */
export function toProviderMessages(messages: readonly ApiMessage[]): readonly ProviderMessage[] {
  const converted = new Conversion()
  for (const { role, content } of messages) {
    if (role === 'user') converted.startUserMessage(content.some((each) => !isResult(each)))
    for (const each of content) converted.add(role, each)
  }
  return converted.end()
}

/** The id of a tool use of the engine, of a server tool use with its code. */
function engineUse(id: unknown): string {
  return textOf(id).replace(/^srvtoolu_/, 'toolu_')
}

class Conversion {
  readonly #messages: { readonly role: 'user' | 'assistant'; readonly content: JsonObject[] }[] = []
  /** Tool uses of the last assistant message that have no result in the next one yet. */
  readonly #open = new Set<string>()
  #results: JsonObject[] = []

  /** @param isPersonal has more than results */
  startUserMessage(isPersonal: boolean): void {
    if (isPersonal) this.#endUses()
  }

  add(role: 'user' | 'assistant', block: Block): void {
    switch (block.type) {
      case 'text':
        return this.#push(role, { type: 'text', text: textOf(block['text']) })
      case 'thinking':
      case 'redacted_thinking':
        return
      case 'server_tool_use':
        this.#assert(role === 'assistant' && block['name'] === 'code_execution', block)
        return this.#use(engineUse(block['id']), executeCodeTool, block['input'])
      case 'tool_use':
        this.#assert(role === 'assistant', block)
        if (isOfCode(block)) return
        return this.#use(textOf(block['id']), textOf(block['name']), block['input'])
      case 'code_execution_tool_result': {
        this.#assert(role === 'assistant', block)
        const { text, isError } = codeResult(block['content'])
        return this.#result(engineUse(block['tool_use_id']), text, isError)
      }
      case 'tool_result': {
        this.#assert(role === 'user', block)
        const { id, text, isError } = toResult(block)
        // The result of a call of code is no part of the messages.
        return this.#open.has(id) ? this.#result(id, text, isError) : undefined
      }
      case 'image':
      case 'document':
        this.#assert(role === 'user', block)
        toAttachment(block) // a reference in place of the data would be read from the value store
        return this.#push(role, withoutCache(block))
      default:
        throw unsupported(block)
    }
  }

  /** @throws BadRequest */
  end(): readonly ProviderMessage[] {
    this.#endUses()
    return this.#messages
  }

  #use(id: string, name: string, input: unknown): void {
    this.#endUsesWithResults()
    this.#open.add(id)
    this.#assert(typeof input === 'object' && input !== null && !Array.isArray(input), { type: 'tool_use' })
    this.#push('assistant', { type: 'tool_use', id, name, input: input as JsonObject })
  }

  #result(id: string, content: string, isError: boolean): void {
    this.#assert(this.#open.delete(id), { type: 'tool_result', id })
    const result = { type: 'tool_result', tool_use_id: id, content: content === '' ? '(empty)' : content }
    this.#results.push({ ...result, ...(isError && { is_error: true }) })
  }

  #push(role: 'user' | 'assistant', block: JsonObject): void {
    if (role === 'assistant') this.#endUsesWithResults()
    const last = this.#messages.at(-1)
    if (last?.role === role) last.content.push(block)
    else this.#messages.push({ role, content: [block] })
  }

  /** What the model writes after all results begins another message. */
  #endUsesWithResults(): void {
    if (this.#open.size === 0 && this.#results.length > 0) this.#endUses()
  }

  #endUses(): void {
    const [open] = this.#open
    if (open !== undefined) throw new BadRequest(`messages: the tool use ${open} has no result`)
    if (this.#results.length > 0) this.#messages.push({ role: 'user', content: this.#results })
    this.#results = []
  }

  #assert(isRight: boolean, block: Block): void {
    if (!isRight) throw new BadRequest(`messages: a block of type ${block.type} is in the wrong place`)
  }
}

function lastOf(messages: readonly ApiMessage[]): ApiMessage {
  const last = messages.at(-1)
  if (last?.role !== 'user') throw new BadRequest('messages: the last message must be of the user')
  return last
}

function isResult({ type }: Block): boolean {
  return type === 'tool_result'
}

function isOfCode({ caller }: Block): boolean {
  return typeof caller === 'object' && caller !== null && 'tool_id' in caller
}

function toResult({ tool_use_id: id, content = '', is_error: isError }: Block): ClientResult {
  const text = typeof content === 'string' ? content : textBlocks(content)
  return { id: textOf(id), text, isError: isError === true }
}

function textBlocks(content: unknown): string {
  if (!Array.isArray(content)) throw new BadRequest('messages: the content of a tool_result is no text and no list')
  const texts = (content as readonly Block[]).map(({ type, text }) => {
    if (type !== 'text') throw new BadRequest(`messages: a tool_result has texts only, not ${type}`)
    return textOf(text)
  })
  return texts.join('\n')
}

function codeResult(content: unknown): { readonly text: string; readonly isError: boolean } {
  const { stdout = '', stderr = '', return_code: code = 0, error_code: error } = (content ?? {}) as Block
  if (error !== undefined) return { text: `[${textOf(error)}]`, isError: true }
  const text = [textOf(stdout).trimEnd(), textOf(stderr)].filter((part) => part !== '').join('\n')
  return { text, isError: code !== 0 }
}

function toAttachment(block: Block): Attachment {
  const { type, source, title } = block
  const { type: kind, data } = (source ?? {}) as Block
  if ((type !== 'image' && type !== 'document') || kind !== 'base64') throw unsupported(block)
  return { data: textOf(data), ...(typeof title === 'string' && { name: title }) }
}

function unsupported({ type }: Block): BadRequest {
  return new BadRequest(`messages: a block of type ${type} is not supported here: give a text, or base64 data`)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new BadRequest('messages: a block lacks a text')
}

function withoutCache(block: Block): JsonObject {
  const { cache_control: _, ...plain } = block
  return plain as JsonObject
}
