import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { ModelRequest, ModelTool } from '../../../src/models/provider.js'
import { type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { text, turn } from '../../support/script.js'
import { closeAfterTest, createProvider, isolateTests, neverAborted, request, startServer } from './harness.js'
import { helloReply, startStream } from './raw-server.js'

isolateTests()

const options = { signal: neverAborted, onProgress: () => undefined }

async function startApi(reply: object = {}) {
  const script = [{ ...turn(text('Hello')), reply: { content: [text('Hello')], ...reply } }]
  const api = closeAfterTest(await startScriptedMessagesApi({ script }))
  return { api, provider: createProvider({ apiKey: 'k', baseURL: api.url }) }
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
}

const large = (name: string): ModelTool => ({
  name,
  description: 'x'.repeat(3_000),
  inputSchema: { type: 'object' },
  inputExamples: [],
})
const searched = (name: string): ModelTool => ({ ...large(name), loadedBySearch: true })

/** The tools of the last request. */
function sentTools({ requests }: ScriptedMessagesApi): readonly Readonly<Record<string, unknown>>[] {
  const body = requests.at(-1)?.body as { readonly tools: readonly Readonly<Record<string, unknown>>[] } | undefined
  return body?.tools ?? []
}

const manyTools: ModelRequest = { ...request, tools: [...request.tools, searched('pay'), searched('ask')] }

describe('the counter', () => {
  it('the token counter counts the same prompt as the turn sends', async () => {
    const { api, provider } = await startApi()
    const asked: ModelRequest = { ...manyTools, effort: 'low', thinking: 'adaptive', contextManagement: {} }
    const tokens = await provider.countTokens?.(asked, options)
    const { usage } = await provider.turn(asked, options)
    expect(tokens).toBe(usage.inputTokens + usage.cacheWriteTokens + usage.cacheReadTokens)
    expect(api.requests.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['/v1/messages/count_tokens', 'answered'],
      ['/v1/messages', 'answered'],
    ])
    expect(Object.keys(api.requests[0]?.body as object).toSorted()).toEqual([
      'context_management',
      'messages',
      'model',
      'output_config',
      'system',
      'thinking',
      'tools',
    ])
  })

  it('the token counter fails like a turn', async () => {
    const api = closeAfterTest(await startScriptedMessagesApi({ script: [turn(text('x'))], apiKey: 'another' }))
    const provider = createProvider({ apiKey: 'k', baseURL: api.url })
    await expect(provider.countTokens?.(request, options)).rejects.toMatchObject({ code: 'MODEL_AUTH' })
  })
})

it.each([
  "tools.0: Input tag 'memory_20250818' found using 'type' does not match any of the expected tags",
  'tools.0.input_schema: Field required',
])('a tool that the API defines is described to a model that does not know it (%s), now and later', async (message) => {
  const server = await startServer((response, { body }) => {
    if (JSON.stringify(body).includes('memory_20250818')) return refuse(response, message)
    startStream(response)
    response.end(helloReply)
  })
  const provider = createProvider({ apiKey: 'k', baseURL: server.url })
  const memory = { name: 'memory', description: 'Stores.', inputSchema: {}, inputExamples: [] }
  const asked = { ...request, tools: [{ ...memory, nativeType: 'memory_20250818' as const }] }
  await provider.turn(asked, options)
  await provider.turn(asked, options)
  const described = { name: 'memory', description: 'Stores.', input_schema: { type: 'object' } }
  expect(server.requests.map(({ body }) => (body['tools'] as readonly object[])[0])).toMatchObject([
    { type: 'memory_20250818', name: 'memory' },
    described,
    described,
  ])
})

describe('tools for the search of the API', () => {
  it('tools for the search of the API are not part of the prompt, and follow the breakpoint of the others', async () => {
    const { api, provider } = await startApi()
    const whole = { ...manyTools, tools: [...request.tools, large('pay'), large('ask')] }
    const tokens = async (asked: ModelRequest) => (await provider.countTokens?.(asked, options)) ?? 0
    expect((await tokens(whole)) - (await tokens(manyTools))).toBeGreaterThan(1_500)
    await provider.turn(manyTools, options)
    expect(api.requests.at(-1)?.outcome).toBe('answered')
    const tools = sentTools(api)
    expect(tools.map(({ name, defer_loading, cache_control }) => [name, defer_loading, cache_control])).toEqual([
      ['tool_search_tool_bm25', undefined, undefined],
      ['add', undefined, { type: 'ephemeral' }],
      ['pay', true, undefined],
      ['ask', true, undefined],
    ])
  })

  it.each(['tools.2.custom.defer_loading: Extra inputs are not permitted', 'tools.0.input_schema: Field required'])(
    'sends all tools to a server that refuses deferred ones (%s), now and in later turns',
    async (message) => {
      const server = await startServer((response, { body }) => {
        if (JSON.stringify(body).includes('defer_loading')) return refuse(response, message)
        startStream(response)
        response.end(helloReply)
      })
      const provider = createProvider({ apiKey: 'k', baseURL: server.url })
      await provider.turn(manyTools, options)
      await provider.turn(manyTools, options)
      const names = server.requests.map(({ body }) =>
        (body['tools'] as readonly { name: string }[]).map(({ name }) => name),
      )
      const whole = ['add', 'pay', 'ask']
      expect(names).toEqual([['tool_search_tool_bm25', ...whole], whole, whole])
    },
  )

  it('the search of the user finds the tools, when there is one', async () => {
    const { api, provider } = await startApi()
    const serverTools = [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }]
    await provider.turn({ ...manyTools, serverTools }, options)
    const tools = sentTools(api)
    expect(tools.map(({ name }) => name)).toEqual(['tool_search_tool_regex', 'add', 'pay', 'ask'])
  })
})

it("a limit of output tokens over that of the model becomes the model's", async () => {
  const server = await startServer((response, { body }) => {
    const { max_tokens: limit } = body as { readonly max_tokens: number }
    if (limit > 64_000)
      return refuse(
        response,
        `max_tokens: ${limit} > 64000, which is the maximum allowed number of output tokens for m`,
      )
    startStream(response)
    response.end(helloReply)
  })
  const provider = createProvider({ apiKey: 'k', baseURL: server.url })
  for (const maxTokens of [128_000, 128_000, 1_000]) await provider.turn({ ...request, maxTokens }, options)
  expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([128_000, 64_000, 64_000, 1_000])
})

it('sends a temperature in the version of the API that supports it', async () => {
  const { api, provider } = await startApi()
  await provider.turn({ ...request, temperature: 0 }, options)
  await provider.turn(request, options)
  expect(api.requests.map(({ outcome, headers }) => [outcome, headers['anthropic-version']])).toEqual([
    ['answered', '2023-06-01'],
    ['answered', '2026-10-21'],
  ])
  expect(api.requests[0]?.body).toMatchObject({ temperature: 0 })
})

describe('context management', () => {
  const applied = { type: 'clear_tool_uses_20250919', cleared_tool_uses: 4, cleared_input_tokens: 20_000 }

  it('context management is requested as a beta, and its edits are part of the reply', async () => {
    const { api, provider } = await startApi({ context_management: { applied_edits: [applied] } })
    const asked: ModelRequest = { ...request, contextManagement: { triggerTokens: 140_000 } }
    expect((await provider.turn(asked, options)).contextEdits).toEqual([applied])
    await provider.turn({ ...asked, thinking: 'adaptive' }, options)
    const clearTools = { type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 140_000 } }
    expect(api.requests.map(({ outcome, headers, body }) => [outcome, headers['anthropic-beta'], body])).toMatchObject([
      ['answered', 'context-management-2025-06-27', { context_management: { edits: [clearTools] } }],
      [
        'answered',
        'context-management-2025-06-27',
        {
          context_management: { edits: [{ type: 'clear_thinking_20251015' }, clearTools] },
        },
      ],
    ])
  })

  it('context management is off by default, and without an edit the reply has none', async () => {
    const { api, provider } = await startApi({ context_management: { applied_edits: [] } })
    expect(await provider.turn(request, options)).not.toHaveProperty('contextEdits')
    expect(api.requests[0]?.headers).not.toHaveProperty('anthropic-beta')
    expect(api.requests[0]?.body).not.toHaveProperty('context_management')
  })
})
