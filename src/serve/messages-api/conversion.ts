import { executeCodeTool } from '../../common/names.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { ProviderMessage } from '../../common/conversation/conversation.js'
import { truncateEnd } from '../../common/text/text.js'
import { type ApiMessage, type Block, isResult, textOf, toMediaBlock, toResult } from './blocks.js'
import { BadRequest } from './errors.js'

/**
 * Converts messages of a client to the form of a conversation: code is a tool use of the engine, with its result in the
 * next message of the user, and calls of code are left out.
 *
 * @throws BadRequest when a tool use has no result, or a result has no tool use
 */
export function toProviderMessages(messages: readonly ApiMessage[]): readonly ProviderMessage[] {
  const conversion = new Conversion()
  for (const { role, content } of messages) {
    if (role === 'assistant') for (const each of content) conversion.addOfAssistant(each)
    else conversion.addUserMessage(content)
  }
  return conversion.end()
}

/** The id of the engine's tool use, from that of the server tool use with its code. */
function engineUse(id: unknown): string {
  return textOf(id).replace(/^srvtoolu_/, 'toolu_')
}

class Conversion {
  readonly #messages: { readonly role: 'user' | 'assistant'; readonly content: JsonObject[] }[] = []
  /**
   * Tool uses of the last assistant message whose result has not come in the next message; true: the code of the
   * engine.
   */
  readonly #open = new Map<string, boolean>()
  readonly #callsOfCode = new Set<string>()
  #results: JsonObject[] = []

  /** Results come first in the converted message, wherever they are in the original. */
  addUserMessage(content: readonly Block[]): void {
    for (const block of content) if (isResult(block)) this.#addResult(block)
    const others = content.filter((block) => !isResult(block))
    if (others.length > 0) this.#endUses()
    for (const block of others) this.#push('user', toUserBlock(block))
  }

  addOfAssistant(block: Block): void {
    switch (block.type) {
      case 'text':
        return this.#push('assistant', { type: 'text', text: textOf(block['text']) })
      case 'thinking':
      case 'redacted_thinking':
        return
      case 'server_tool_use':
        assert(block['name'] === 'code_execution', block)
        return this.#use(engineUse(block['id']), executeCodeTool, block['input'], true)
      case 'tool_use': {
        const id = textOf(block['id'])
        if (isOfCode(block)) return void this.#callsOfCode.add(id)
        return this.#use(id, textOf(block['name']), block['input'], false)
      }
      case 'code_execution_tool_result': {
        const id = engineUse(block['tool_use_id'])
        assert(this.#open.has(id), block)
        const { text, isError } = codeResult(block['content'])
        return this.#result(id, text, isError)
      }
      default:
        throw unsupported(block)
    }
  }

  /** @throws BadRequest */
  end(): readonly ProviderMessage[] {
    this.#endUses()
    return this.#messages
  }

  #use(id: string, name: string, input: unknown, isCode: boolean): void {
    this.#endUsesWithResults()
    this.#open.set(id, isCode)
    assert(isJsonObject(input), { type: 'tool_use' })
    this.#push('assistant', { type: 'tool_use', id, name, input: input as JsonObject })
  }

  /** Leaves out the result of a call of code. */
  #addResult(block: Block): void {
    const { id, text, isError } = toResult(block)
    if (this.#open.get(id) === false) return this.#result(id, text, isError)
    if (!this.#callsOfCode.has(id))
      throw new BadRequest(`messages: the tool_result ${truncateEnd(id, 200)} has no tool_use in the message before it`)
  }

  #result(id: string, content: string, isError: boolean): void {
    this.#open.delete(id)
    const result = { type: 'tool_result', tool_use_id: id, content: content === '' ? '(empty)' : content }
    this.#results.push({ ...result, ...(isError && { is_error: true }) })
  }

  #push(role: 'user' | 'assistant', block: JsonObject): void {
    if (role === 'assistant') this.#endUsesWithResults()
    const last = this.#messages.at(-1)
    if (last?.role === role) last.content.push(block)
    else this.#messages.push({ role, content: [block] })
  }

  /** Text of the model after all results begins another message. */
  #endUsesWithResults(): void {
    if (this.#open.size === 0 && this.#results.length > 0) this.#endUses()
  }

  #endUses(): void {
    for (const [id, isCode] of this.#open) {
      const hint = isCode ? ': `container` is required while code waits for results' : ''
      throw new BadRequest(`messages: the tool use ${truncateEnd(id, 200)} has no result${hint}`)
    }
    if (this.#results.length > 0) this.#messages.push({ role: 'user', content: this.#results })
    this.#results = []
  }
}

function toUserBlock(block: Block): JsonObject {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: textOf(block['text']) }
    case 'image':
    case 'document':
      return toMediaBlock(block)
    default:
      throw unsupported(block)
  }
}

function assert(isRight: boolean, block: Block): void {
  if (!isRight) throw new BadRequest(`messages: a block of type ${block.type} is in the wrong place`)
}

function isOfCode({ caller }: Block): boolean {
  return typeof caller === 'object' && caller !== null && 'tool_id' in caller
}

function codeResult(content: unknown): { readonly text: string; readonly isError: boolean } {
  const { stdout = '', stderr = '', return_code: code = 0, error_code: error } = (content ?? {}) as Block
  if (error !== undefined) return { text: `[${textOf(error)}]`, isError: true }
  const text = [textOf(stdout).trimEnd(), textOf(stderr)].filter((part) => part !== '').join('\n')
  return { text, isError: code !== 0 }
}

function unsupported({ type }: Block): BadRequest {
  return new BadRequest(`messages: a block of type ${truncateEnd(type, 100)} is not supported here`)
}
