import { inspect } from 'node:util'
import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import type { Message } from '../../../src/common/agent/messages.js'
import { isolateTests, neverAborted, runTurn, startServer } from './harness.js'
import {
  chunk,
  createProvider,
  done,
  helloReply,
  refuse,
  request,
  startChatStream,
  startStreamingServer,
} from './openai-harness.js'
import type { ReceivedRequest } from './raw-server.js'

isolateTests()

function answerHello(response: ServerResponse): void {
  startChatStream(response)
  response.end(helloReply)
}

/** OpenAI's error for a parameter that a model does not accept. */
function unsupportedParameter(param: string): object {
  return { error: { message: `Unsupported parameter: '${param}'.`, type: 'invalid_request_error', param, code: null } }
}

const bodies = (requests: readonly ReceivedRequest[]) => requests.map(({ body }) => body)

describe('a request', () => {
  it('a request to a compatible server streams without a key, and asks for usage', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai')
    vi.stubEnv('OPENAI_ORG_ID', 'organization')
    const server = await startStreamingServer(helloReply)
    const tools = [
      { name: 'add', description: 'Adds.', inputSchema: { properties: {} }, inputExamples: [{ a: 1 }, { a: 2 }] },
    ]
    const provider = createProvider({ baseURL: `${server.url}/v1` })
    await provider.turn({ ...request, tools, temperature: 0 }, { signal: neverAborted, onProgress: () => undefined })
    const [sent] = server.requests
    expect(sent?.url).toBe('/v1/chat/completions')
    expect(sent?.headers).not.toHaveProperty('authorization')
    expect(inspect(sent?.headers)).not.toContain('organization')
    expect(sent?.body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1_000,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: 'function',
          function: {
            name: 'add',
            description: 'Adds.\n\nExamples of arguments:\n{"a":1}\n{"a":2}',
            parameters: { type: 'object', properties: {} },
          },
        },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
  })

  it("a request to OpenAI has the key of the environment, and OpenAI's name of the token limit", async () => {
    const server = await startStreamingServer(helloReply)
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai')
    vi.stubEnv('OPENAI_BASE_URL', server.url)
    await runTurn(createProvider({}))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key-of-openai')
    expect(server.requests[0]?.body).toMatchObject({ max_completion_tokens: 1_000 })
    expect(server.requests[0]?.body).not.toHaveProperty('max_tokens')
  })

  it('a request has the key of the named variable', async () => {
    const server = await startStreamingServer(helloReply)
    vi.stubEnv('MY_KEY', 'my-key')
    await runTurn(createProvider({ baseURL: server.url, keyVariable: 'MY_KEY' }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer my-key')
  })

  it('a request to OpenAI reports the phase of the reply, with growing counts', async () => {
    const calls = [{ index: 0, id: 'c', function: { name: 'execute_code', arguments: '{"code":"1"}' } }]
    const server = await startStreamingServer(
      chunk({ reasoning: 'Hm' }) + chunk({ content: 'So' }) + chunk({ tool_calls: calls }) + chunk({}, 'stop') + done,
    )
    const seen: string[] = []
    await createProvider({ baseURL: server.url }).turn(request, {
      signal: neverAborted,
      onProgress: ({ phase, outputCharacters }) => seen.push(`${phase} ${outputCharacters}`),
    })
    expect(seen).toEqual(['waiting 0', 'thinking 2', 'text 4', 'code 16'])
  })
})

describe('a server without a parameter', () => {
  it.each([
    [unsupportedParameter('stream_options'), 'max_tokens', false],
    [unsupportedParameter('max_tokens'), 'max_completion_tokens', true],
    [{ detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] }, 'max_tokens', false],
  ])(
    'a server that refuses a parameter by %j gets the request without it, now and in later turns',
    async (error, limit, hasUsage) => {
      const server = await startServer((response) => {
        if (server.requests.length === 1) refuse(response, 400, error)
        else answerHello(response)
      })
      const provider = createProvider({ baseURL: server.url })
      await runTurn(provider)
      await runTurn(provider)
      expect(server.requests).toHaveLength(3)
      for (const body of bodies(server.requests).slice(1)) {
        expect(body).toMatchObject({ [limit]: 1_000 })
        expect('stream_options' in body).toBe(hasUsage)
      }
    },
  )

  it('a server that refuses both names of the token limit gets two requests', async () => {
    const server = await startServer((response, { body }) =>
      refuse(response, 400, unsupportedParameter('max_tokens' in body ? 'max_tokens' : 'max_completion_tokens')),
    )
    await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({ code: 'MODEL_BAD_REQUEST' })
    expect(server.requests).toHaveLength(2)
  })
})

describe('a conversation', () => {
  it('a conversation is sent back with calls, results and the extras that only this server wrote', async () => {
    const signature = { google: { thought_signature: 'c2ln' } }
    const calls = [
      { extra_content: signature, id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
      { id: 'call_2', type: 'function', function: { name: 'add', arguments: '{"a"' } },
    ]
    const server = await startStreamingServer(
      chunk({ reasoning_content: 'Hm.', content: 'I add.', tool_calls: calls }) + chunk({}, 'tool_calls') + done,
    )
    const turn = (name: string, messages: readonly Message[]) =>
      createProvider({ name, baseURL: server.url }).turn(
        { ...request, messages },
        { signal: neverAborted, onProgress: () => undefined },
      )
    const { content } = await turn('gemini', request.messages)
    const messages: readonly Message[] = [
      ...request.messages,
      // A reply of another vendor.
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 's' },
          { type: 'text', text: 'First' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      { role: 'assistant', content },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '2' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'not called', is_error: true },
          { type: 'text', text: 'Go on.' },
          { type: 'text', text: 'Please.' },
        ],
      },
    ]
    await turn('gemini', messages)
    await turn('other', messages)
    const sent = bodies(server.requests).map(({ messages }) => messages)
    const assistant = {
      role: 'assistant',
      content: 'I add.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'add', arguments: '{"invalid_json":"{\\"a\\""}' } },
      ],
    }
    const rest = [
      { role: 'tool', tool_call_id: 'call_1', content: '2' },
      { role: 'tool', tool_call_id: 'call_2', content: 'not called' },
      { role: 'user', content: 'Go on.\n\nPlease.' },
    ]
    const begin = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'First' },
      { role: 'user', content: 'And?' },
    ]
    expect(sent[2]).toEqual([...begin, assistant, ...rest])
    const withExtras = {
      ...assistant,
      reasoning_content: 'Hm.',
      tool_calls: [{ ...assistant.tool_calls[0], extra_content: signature }, assistant.tool_calls[1]],
    }
    expect(sent[1]).toEqual([...begin, withExtras, ...rest])
  })
})
