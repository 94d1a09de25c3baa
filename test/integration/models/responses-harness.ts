import type { ModelReply } from '../../../src/common/agent/messages.js'
import { createProvider, startStreamingServer } from './openai-harness.js'
import { runTurn } from './harness.js'

let sequence = 0

/** An event in the format of OpenAI's API. */
export function event(type: string, fields: object): string {
  sequence += 1
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`
}

export const usage = {
  input_tokens: 1_300,
  input_tokens_details: { cached_tokens: 1_024, cache_write_tokens: 76 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 1_320,
}

const base = {
  id: 'resp_68af4030',
  object: 'response',
  created_at: 1_764_000_000,
  background: false,
  instructions: 'Be brief.',
  max_output_tokens: 1_000,
  model: 'gpt-5.6-2026-08-07',
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: 'medium', summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  user: null,
  metadata: {},
}

export const begin =
  event('response.created', {
    response: { ...base, status: 'in_progress', error: null, incomplete_details: null, output: [], usage: null },
  }) +
  event('response.in_progress', {
    response: { ...base, status: 'in_progress', error: null, incomplete_details: null, output: [], usage: null },
  })

export function completed(output: readonly object[]): string {
  const response = { ...base, status: 'completed', error: null, incomplete_details: null, output, usage }
  return event('response.completed', { response })
}

export function incomplete(reason: string, output: readonly object[]): string {
  const response = { ...base, status: 'incomplete', error: null, incomplete_details: { reason }, output, usage }
  return event('response.incomplete', { response })
}

export function failed(error: object): string {
  const response = { ...base, status: 'failed', error, incomplete_details: null, output: [], usage: null }
  return event('response.failed', { response })
}

/** An item of a reply, and the events that stream it. */
export interface Item {
  readonly item: Readonly<Record<string, unknown>>
  readonly events: (index: number) => string
}

export function reasoning(encrypted_content: string): Item {
  const item = { id: `rs_${encrypted_content}`, type: 'reasoning', summary: [], encrypted_content }
  const added = { ...item, encrypted_content: `${encrypted_content}-so-far` }
  return {
    item,
    events: (output_index) =>
      event('response.output_item.added', { output_index, item: added }) +
      event('response.output_item.done', { output_index, item }),
  }
}

export function message(...pieces: readonly string[]): Item {
  const id = 'msg_68af4033'
  const part = { type: 'output_text', annotations: [], logprobs: [], text: pieces.join('') }
  const item = { id, type: 'message', status: 'completed', content: [part], role: 'assistant' }
  return {
    item,
    events: (output_index) => {
      const place = { item_id: id, output_index, content_index: 0 }
      return [
        event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } }),
        event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
        ...pieces.map((delta) =>
          event('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'aZ1x' }),
        ),
        event('response.output_text.done', { ...place, text: part.text, logprobs: [] }),
        event('response.content_part.done', { ...place, part }),
        event('response.output_item.done', { output_index, item }),
      ].join('')
    },
  }
}

export function functionCall(call_id: string, name: string, ...pieces: readonly string[]): Item {
  const id = `fc_${call_id}`
  const item = { id, type: 'function_call', status: 'completed', arguments: pieces.join(''), call_id, name }
  return {
    item,
    events: (output_index) =>
      [
        event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } }),
        ...pieces.map((delta) =>
          event('response.function_call_arguments.delta', { item_id: id, output_index, delta, obfuscation: 'q' }),
        ),
        event('response.function_call_arguments.done', { item_id: id, output_index, arguments: item.arguments }),
        event('response.output_item.done', { output_index, item }),
      ].join(''),
  }
}

/** The stream of a complete reply. */
export function replyOf(...items: readonly Item[]): string {
  const events = items.map((each, index) => each.events(index)).join('')
  return begin + events + completed(items.map(({ item }) => item))
}

/** The reply of the responses API to a stream of exactly these bytes that ends cleanly. */
export async function replyTo(bytes: string): Promise<ModelReply> {
  const { url } = await startStreamingServer(bytes)
  return runTurn(createProvider({ api: 'responses', baseURL: url }))
}
