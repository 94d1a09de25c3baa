import { afterEach, expect, it, vi } from 'vitest'
import { stubbedTurn, stubRequest } from '../../../test/support/models/stubbed-turn.js'
import type { JsonObject } from '../../common/json/json.js'
import type { Message } from '../../common/agent/messages.js'
import type { AiSdkProviderOptions } from './options.js'

// Each vendor's real package, with the stream that its API sends.

afterEach(() => {
  vi.unstubAllEnvs()
})

const usage = { prompt_tokens: 60, completion_tokens: 9, total_tokens: 69 }
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c1',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const toolCall = {
  index: 0,
  id: 'call_abc',
  type: 'function',
  function: { name: 'execute_code', arguments: '{"code":"x"}' },
}

/** Events of a reply that thinks, says `Hi` and calls `execute_code`, for an API of chat completions. */
const chat = [
  chunk({ role: 'assistant', content: 'Hi' }),
  chunk({ tool_calls: [toolCall] }, 'tool_calls', { usage }),
  '[DONE]',
]

/** Groq reports its usage in a member of its own. */
const groq = [chat[0] ?? '', chunk({ tool_calls: [toolCall] }, 'tool_calls', { x_groq: { usage } }), '[DONE]']

const gemini = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm', thought: true }] } }], modelVersion: 'm-1' },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Hi' },
            { functionCall: { name: 'execute_code', args: { code: 'x' } }, thoughtSignature: 's1' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 7, thoughtsTokenCount: 2, totalTokenCount: 69 },
  },
]

const items = [
  { type: 'reasoning', id: 'rs', encrypted_content: 'e', summary: [] },
  { type: 'message', id: 'ms', content: [{ type: 'output_text', text: 'Hi' }] },
  { type: 'function_call', id: 'fc', call_id: 'call_abc', name: 'execute_code', arguments: '{"code":"x"}' },
]

const responses = [
  { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm-1' } },
  ...items.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item },
    ...(item.id === 'ms' ? [{ type: 'response.output_text.delta', output_index, item_id: 'ms', delta: 'Hi' }] : []),
    { type: 'response.output_item.done', output_index, item },
  ]),
  {
    type: 'response.completed',
    response: { output: items, usage: { input_tokens: 60, output_tokens: 9 } },
  },
]

interface VendorCase {
  readonly events: readonly (string | object)[]
  readonly settings?: AiSdkProviderOptions['settings']
  readonly url: string
  readonly key: string
}

const vendors: Readonly<Record<string, VendorCase>> = {
  google: {
    events: gemini,
    url: 'https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse',
    key: 'x-goog-api-key',
  },
  mistral: { events: chat, url: 'https://api.mistral.ai/v1/chat/completions', key: 'authorization' },
  groq: { events: groq, url: 'https://api.groq.com/openai/v1/chat/completions', key: 'authorization' },
  xai: { events: chat, url: 'https://api.x.ai/v1/chat/completions', key: 'authorization' },
  azure: {
    events: responses,
    settings: { resourceName: 'mine' },
    url: 'https://mine.openai.azure.com/openai/v1/responses?api-version=v1',
    key: 'api-key',
  },
}

async function turnOf(name: string, request: Partial<typeof stubRequest> = {}, events?: readonly (string | object)[]) {
  const { settings, ...vendor } = vendors[name] ?? vendors['google']!
  vi.stubEnv('THE_KEY', 'secret-key')
  const options = { name, package: `@ai-sdk/${name}`, keyVariable: 'THE_KEY', settings }
  return stubbedTurn(options, events ?? vendor.events, request)
}

it.each(Object.keys(vendors))('%s replies with text, calls, usage and live code', async (name) => {
  const { reply, deltas, url, headers, body } = await turnOf(name)
  expect(reply.content.filter(({ type }) => type !== 'ai_sdk_message')).toEqual([
    { type: 'text', text: 'Hi' },
    { type: 'tool_use', id: expect.any(String) as string, name: 'execute_code', input: { code: 'x' } },
  ])
  expect(reply).toMatchObject({ model: name === 'google' ? 'm' : 'm-1', stopReason: 'tool_use', costUsd: null })
  expect(reply.usage).toEqual({ inputTokens: 60, outputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 })
  expect(deltas.map(({ text }) => text).join('')).toContain('Hi')
  expect(url).toBe(vendors[name]?.url)
  expect(headers.get(vendors[name]?.key ?? '')).toMatch(/^(Bearer )?secret-key$/)
  expect(JSON.stringify(body)).toContain('"pay"')
})

it.each(Object.keys(vendors))('%s gets its own reply back, with what only it knows', async (name) => {
  const { reply } = await turnOf(name)
  const messages: readonly Message[] = [
    ...stubRequest.messages,
    {
      role: 'assistant',
      content: reply.content.map((block) => (block.type === 'tool_use' ? { ...block, id: 'aaaaaaaaa' } : block)),
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'aaaaaaaaa', content: 'done', is_error: true }] },
  ]
  const same = JSON.stringify((await turnOf(name, { messages })).body)
  const other = JSON.stringify((await turnOf(name, { messages, model: 'another' })).body)
  for (const body of [same, other]) {
    expect(body).toContain('Hi')
    expect(body).toContain('done')
  }
  const own = { google: 's1', azure: '"encrypted_content":"e"' }[name]
  if (own === undefined) return
  expect(same).toContain(own)
  expect(other).not.toContain(own)
})

it.each(Object.keys(vendors))('a cut stream of %s is MODEL_STREAM', async (name) => {
  const cut = (vendors[name]?.events ?? []).slice(0, 1)
  await expect(turnOf(name, {}, cut)).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
})

it.each(Object.keys(vendors))('an error in the stream of %s has its code', async (name) => {
  const error = { error: { code: 429, message: 'Slow down, secret-key.', status: 'RESOURCE_EXHAUSTED' } }
  await expect(turnOf(name, {}, [error])).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMIT',
    message: 'The model API answered in the middle of its reply: Slow down, [redacted].',
  })
})

it.each([
  [{ thinking: { budgetTokens: 2_000 } }, { thinkingBudget: 2_000 }],
  [{ thinking: 'off' }, { thinkingBudget: 0 }],
  [{ effort: 'xhigh' }, { thinkingLevel: 'high' }],
] as const)('sends the settings %j to Gemini as %j', async (settings, thinkingConfig) => {
  const { body } = await turnOf('google', settings)
  expect(body).toMatchObject({ generationConfig: { thinkingConfig } })
})

it('sends server tools to Gemini as the configuration has them', async () => {
  const { body } = await turnOf('google', { serverTools: [{ googleSearch: {} }] })
  expect(body['tools']).toEqual([{ functionDeclarations: expect.anything() as JsonObject }, { googleSearch: {} }])
})

const cited = (url: string, title: string | null) => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: '',
})

const annotation = (added: object) => ({ type: 'response.output_text.annotation.added', annotation: added })
const place = { type: 'url_citation', start_index: 0, end_index: 2, url: 'https://a.example', title: 'A' }
const file = { type: 'file_citation', file_id: 'f1', filename: 'q3.pdf', index: 0 }

it.each([
  [
    'google',
    [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] },
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '!' }] },
            finishReason: 'STOP',
            groundingMetadata: { groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }] },
          },
        ],
      },
    ],
    [cited('https://a.example', 'A')],
  ],
  [
    'xai',
    [chunk({ content: 'Hi!' }, 'stop', { citations: ['https://a.example'] })],
    [cited('https://a.example', null)],
  ],
  [
    'azure',
    [
      ...(responses as readonly object[])
        .slice(0, 5)
        .toSpliced(4, 0, annotation(place), annotation({ ...place, start_index: 1 }), annotation(file)),
      { type: 'response.output_item.done', output_index: 1, item: items[1] },
      { type: 'response.completed', response: { output: items.slice(0, 2), usage: null } },
    ],
    [
      cited('https://a.example', 'A'),
      { type: 'search_result_location', source: 'q3.pdf', title: 'q3.pdf', cited_text: '' },
    ],
  ],
])('the text of a reply of %s has its sources, each once', async (name, events, citations) => {
  const { reply } = await turnOf(name, {}, events)
  expect(reply.content.find(({ type }) => type === 'text')).toMatchObject({ citations })
  const messages: readonly Message[] = [...stubRequest.messages, { role: 'assistant', content: reply.content }]
  const { body } = await turnOf(name, { messages, model: 'another' })
  expect(JSON.stringify(body)).not.toContain('a.example')
})

it('the text of a chat completion has the sources that a compatible server annotates', async () => {
  const citation = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0 } }
  const events = [
    chunk({ content: 'Hi' }),
    chunk({ annotations: [citation, { type: 'other' }, null] }),
    chunk({ annotations: [citation] }, 'stop'),
    '[DONE]',
  ]
  const { reply } = await stubbedTurn({ baseURL: 'https://models.example' }, events)
  expect(reply.content).toEqual([{ type: 'text', text: 'Hi', citations: [cited('https://a.example', 'A')] }])
})

it('refuses a setting that a model does not take', async () => {
  const options = { name: 'openai', package: '@ai-sdk/openai', keyVariable: 'THE_KEY' }
  vi.stubEnv('THE_KEY', 'secret-key')
  const turn = stubbedTurn(options, responses, { model: 'gpt-5', temperature: 0.5 })
  await expect(turn).rejects.toMatchObject({
    code: 'MODEL_BAD_REQUEST',
    message: expect.stringContaining('temperature') as string,
  })
})

it('names a package that is missing, or that is no provider of the AI SDK', async () => {
  const turn = (name: string) => stubbedTurn({ name: 'mine', package: name }, [])
  await expect(turn('@ai-sdk/none')).rejects.toMatchObject({
    code: 'MODEL_PROVIDER_MISSING',
    hint: 'Install it with durable-ptc: npm install @ai-sdk/none.',
  })
  await expect(turn('zod')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

it('names the variable of a key that is missing', async () => {
  vi.stubEnv('THE_KEY', '')
  const named = stubbedTurn({ name: 'xai', package: '@ai-sdk/xai', keyVariable: 'THE_KEY' }, chat)
  await expect(named).rejects.toMatchObject({
    code: 'MODEL_AUTH',
    message: expect.stringContaining('THE_KEY') as string,
  })
  vi.stubEnv('XAI_API_KEY', undefined)
  const found = stubbedTurn({ name: 'xai', package: '@ai-sdk/xai' }, chat)
  await expect(found).rejects.toMatchObject({
    code: 'MODEL_AUTH',
    message: expect.stringContaining('XAI_API_KEY') as string,
  })
})
