import type { ServerResponse } from 'node:http'
import { createAiSdkProvider } from '../../../src/models/ai-sdk/provider.js'
import type { AiSdkProviderOptions } from '../../../src/models/ai-sdk/options.js'
import type { ModelReply } from '../../../src/common/agent/messages.js'
import type { ModelProvider } from '../../../src/models/provider.js'
import { closeAfterTest, request, runTurn, startServer } from './harness.js'

/** A chunk in the format of OpenAI's API. */
export function chunk(delta: object, finish_reason: string | null = null): string {
  return event({
    id: 'chatcmpl-C9x1',
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: 'gpt-5.6-2026-08-07',
    service_tier: 'default',
    system_fingerprint: null,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
    obfuscation: 'aZ1x',
  })
}

export function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

export const done = 'data: [DONE]\n\n'

/** The last chunk of OpenAI's API: usage, and no choice. */
export const usageChunk = event({
  id: 'chatcmpl-C9x1',
  object: 'chat.completion.chunk',
  model: 'gpt-5.6-2026-08-07',
  choices: [],
  usage: {
    prompt_tokens: 1_300,
    completion_tokens: 20,
    total_tokens: 1_320,
    prompt_tokens_details: { cached_tokens: 1_024, audio_tokens: 0, cache_write_tokens: 76 },
    completion_tokens_details: { reasoning_tokens: 8 },
  },
})

export const helloReply =
  chunk({ role: 'assistant', content: '', refusal: null }) +
  chunk({ content: 'Hel' }) +
  chunk({ content: 'lo' }) +
  chunk({}, 'stop') +
  usageChunk +
  done

export function startChatStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' })
}

/** Replies with an error in the format of OpenAI's API. */
export function refuse(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_9', ...headers })
  response.end(JSON.stringify(body))
}

export function createProvider(options: Partial<AiSdkProviderOptions>): ModelProvider {
  return closeAfterTest(createAiSdkProvider({ name: 'openai', toolsInSystemPrompt: false, ...options }))
}

/** A server that answers each request with exactly these bytes. */
export function startStreamingServer(bytes: string | readonly string[]) {
  return startServer((response) => {
    startChatStream(response)
    for (const piece of typeof bytes === 'string' ? [bytes] : bytes) response.write(piece)
    response.end()
  })
}

/** The reply to a stream of exactly these bytes that ends cleanly. */
export async function replyTo(bytes: string | readonly string[], name = 'openai'): Promise<ModelReply> {
  const { url } = await startStreamingServer(bytes)
  return runTurn(createProvider({ name, baseURL: url }))
}

export { request }
