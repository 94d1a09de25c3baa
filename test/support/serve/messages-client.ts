import Anthropic from '@anthropic-ai/sdk'
import type { PtcClient } from '../../../src/client/index.js'
import type { TestEnvironment } from '../environment/test-environment.js'

export const codeTool = { type: 'code_execution_20260120', name: 'code_execution' } as const

type ToolUse = Anthropic.ToolUseBlock

/** A result of a call: a text, or an error. */
export type ClientAnswer = string | { readonly error: string }

interface Served {
  readonly env: Pick<TestEnvironment, 'sessionHandle'>
  readonly ptc: PtcClient
}

/** A client that is written for the official API: it keeps the messages, and sends all of them. */
export class MessagesClient {
  readonly messages: Anthropic.MessageParam[] = []
  readonly params: Omit<Anthropic.MessageCreateParamsNonStreaming, 'messages'>
  container: string | undefined
  #api: Anthropic
  readonly #served: Served

  constructor(served: Served, url: string, tools: Anthropic.ToolUnion[], apiKey = 'any') {
    this.#served = served
    this.#api = officialSdk(url, apiKey)
    this.params = { model: 'scripted', max_tokens: 1_000, tools: [codeTool, ...tools] }
  }

  /** Switches the client to another server. */
  use(url: string): void {
    this.#api = officialSdk(url)
  }

  /** Sends a message of a person. */
  ask(text: string): Promise<Anthropic.Message> {
    this.messages.push({ role: 'user', content: text })
    return this.#send()
  }

  /** Sends the results of the calls in a response. */
  answer(response: Anthropic.Message, results: (call: ToolUse) => ClientAnswer): Promise<Anthropic.Message> {
    this.messages.push({ role: 'user', content: toolUses(response).map((call) => toResult(call, results(call))) })
    return this.#send()
  }

  /** Sends the latest request again. */
  repeat(): Promise<Anthropic.Message> {
    this.messages.pop()
    return this.#send()
  }

  /** Sends the latest request, without its response, with the SDK's stream. */
  async stream(): Promise<{ readonly types: readonly string[]; readonly message: Anthropic.Message }> {
    this.messages.pop()
    const stream = this.#api.messages.stream({ ...this.#request(), messages: [...this.messages] })
    const types: string[] = []
    stream.on('streamEvent', ({ type }) => types.push(type))
    return { message: this.#record(await stream.finalMessage()), types }
  }

  async #send(): Promise<Anthropic.Message> {
    return this.#record(await this.#api.messages.create({ ...this.#request(), messages: [...this.messages] }))
  }

  #request() {
    return { ...this.params, ...(this.container !== undefined && { container: this.container }) }
  }

  #record(message: Anthropic.Message): Anthropic.Message {
    this.messages.push({ role: 'assistant', content: message.content })
    if (message.container && message.container.id !== this.container) {
      this.container = message.container.id
      // The workflow ends with the test.
      this.#served.env.sessionHandle(this.container, this.#served.ptc.conversation(this.container).workflowId)
    }
    return message
  }
}

export function officialSdk(baseURL: string, apiKey = 'any'): Anthropic {
  return new Anthropic({ baseURL, apiKey, maxRetries: 0, timeout: 90_000 })
}

export function toolUses({ content }: Pick<Anthropic.Message, 'content'>): readonly ToolUse[] {
  return content.filter((block) => block.type === 'tool_use')
}

export function textOf({ content }: Pick<Anthropic.Message, 'content'>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
}

function toResult({ id }: ToolUse, answer: ClientAnswer): Anthropic.ToolResultBlockParam {
  return typeof answer === 'string'
    ? { type: 'tool_result', tool_use_id: id, content: answer }
    : { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: answer.error }], is_error: true }
}
