import { vi } from 'vitest'
import type { ModelReply } from '../../../src/common/agent/messages.js'
import type { AiSdkProviderOptions } from '../../../src/models/ai-sdk/options.js'
import { createAiSdkProvider } from '../../../src/models/ai-sdk/provider.js'
import type { ModelDelta, ModelRequest } from '../../../src/models/provider.js'

export const stubRequest: ModelRequest = {
  model: 'm',
  maxTokens: 10,
  system: '',
  tools: [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, inputExamples: [] }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
}

/** A turn of an adapter, and what it sent, when the API answers with these events. */
export interface StubbedTurn {
  readonly reply: ModelReply
  readonly deltas: readonly ModelDelta[]
  readonly url: string
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

/** @param events the stream of the API: objects as JSON */
export async function stubbedTurn(
  options: Partial<AiSdkProviderOptions>,
  events: readonly (string | object)[],
  request: Partial<ModelRequest> = {},
): Promise<StubbedTurn> {
  const data = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  const bytes = new TextEncoder().encode(data.join(''))
  const fetched: [url: string, init: RequestInit][] = []
  vi.stubGlobal('fetch', async (url: string | URL, init: RequestInit) => {
    fetched.push([String(url), init])
    // In pieces of a few bytes.
    const size = Math.max(7, Math.ceil(bytes.length / 500))
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    )
    return new Response(ReadableStream.from(pieces), { headers: { 'content-type': 'text/event-stream' } })
  })
  const deltas: ModelDelta[] = []
  try {
    const provider = createAiSdkProvider({ name: 'local', toolsInSystemPrompt: false, ...options })
    const reply = await provider.turn(
      { ...stubRequest, ...request },
      {
        signal: new AbortController().signal,
        onProgress: () => undefined,
        onDelta: (delta) => void deltas.push(delta),
      },
    )
    const [url, init] = fetched.at(-1) ?? ['', {}]
    const body = JSON.parse(init.body as string) as Record<string, unknown>
    return { reply, deltas, url, headers: new Headers(init.headers), body }
  } finally {
    vi.unstubAllGlobals()
  }
}

/** The reply of a compatible server for chat completions to these chunks. */
export async function chatReply(isEnded: boolean, ...chunks: readonly object[]): Promise<ModelReply> {
  const events = [...chunks, ...(isEnded ? ['[DONE]'] : [])]
  return (await stubbedTurn({ baseURL: 'https://models.example' }, events)).reply
}
