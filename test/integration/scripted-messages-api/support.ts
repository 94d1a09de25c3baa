import Anthropic from '@anthropic-ai/sdk'
import { onTestFinished } from 'vitest'
import { startScriptedMessagesApi, type ScriptedMessagesApi, type ScriptedTurn } from '../../../src/testing/index.js'

/** A server that ends with the test. */
export async function startServer(
  options: Parameters<typeof startScriptedMessagesApi>[0],
): Promise<ScriptedMessagesApi> {
  const server = await startScriptedMessagesApi(options)
  onTestFinished(() => server.close())
  return server
}

/** The official client, without retries. */
export function createClient(server: ScriptedMessagesApi, apiKey = 'sk-test'): Anthropic {
  return new Anthropic({ baseURL: server.url, apiKey, maxRetries: 0, logLevel: 'off' })
}

export function textTurn(text: string): ScriptedTurn {
  return { reply: { content: [{ type: 'text', text }] } }
}

export const validRequest = {
  model: 'claude-sonnet-5',
  max_tokens: 1_000,
  messages: [{ role: 'user' as const, content: 'Hello' }],
}

export const validHeaders = {
  'x-api-key': 'sk-test',
  'anthropic-version': '2023-06-01',
  'content-type': 'application/json',
}

/** Sends a raw request. A string is sent unchanged. */
export async function post(
  server: ScriptedMessagesApi,
  body: unknown,
  { path = '/v1/messages', headers = validHeaders, method = 'POST' }: PostOptions = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  // fetch adds a content type to a string body, but not to bytes.
  return fetch(server.url + path, { method, headers, ...(method === 'GET' ? {} : { body: Buffer.from(text) }) })
}

export interface PostOptions {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends the same request twice; returns its plain and its streamed reply. */
export async function createdAndStreamed({ messages }: ReturnType<typeof createClient>) {
  return [await messages.create(validRequest), await messages.stream(validRequest).finalMessage()] as const
}
