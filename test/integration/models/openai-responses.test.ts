import { describe, expect, it, vi } from 'vitest'
import type { Message } from '../../../src/common/agent/messages.js'
import { fileStream } from '../../../src/stream/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import { tool } from '../../support/tools.js'
import { isolateTests, neverAborted, runTurn, startServer } from './harness.js'
import { createProvider, refuse, request, startChatStream, startStreamingServer } from './openai-harness.js'
import {
  begin,
  completed,
  event,
  failed,
  functionCall,
  incomplete,
  message,
  reasoning,
  replyOf,
  replyTo,
} from './responses-harness.js'

isolateTests()

const hello = message('Hel', 'lo')
const turnOptions = { signal: neverAborted, onProgress: () => undefined }

describe('a request', () => {
  it('a request of the responses API stores nothing at the server, and has the key of the environment', async () => {
    const server = await startStreamingServer(replyOf(hello))
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai')
    vi.stubEnv('OPENAI_BASE_URL', `${server.url}/v1`)
    const tools = [{ name: 'add', description: 'Adds.', inputSchema: { properties: {} }, inputExamples: [{ a: 1 }] }]
    await createProvider({ api: 'responses' }).turn({ ...request, tools, effort: 'low' }, turnOptions)
    const [sent] = server.requests
    expect(sent?.url).toBe('/v1/responses')
    expect(sent?.headers.authorization).toBe('Bearer key-of-openai')
    expect(sent?.body).toEqual({
      model: 'claude-sonnet-5-5',
      max_output_tokens: 1_000,
      reasoning: { effort: 'low' },
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      instructions: 'Be brief.',
      tools: [
        {
          type: 'function',
          name: 'add',
          description: 'Adds.\n\nExamples of arguments:\n{"a":1}',
          parameters: { type: 'object', properties: {} },
          strict: false,
        },
      ],
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    })
  })

  it('a request to a model without reasoning does not ask for it, now and in later turns', async () => {
    const error = { message: 'Encrypted content is not supported with this model.', type: 'invalid_request_error' }
    const server = await startServer((response) => {
      if (server.requests.length === 1) return refuse(response, 400, { error: { ...error, param: 'include' } })
      startChatStream(response)
      response.end(replyOf(hello))
    })
    const provider = createProvider({ api: 'responses', baseURL: server.url })
    await runTurn(provider)
    await runTurn(provider)
    expect(server.requests.map(({ body }) => 'include' in body)).toEqual([true, false, false])
  })
})

it.each([
  [404, { error: { message: 'Not found.' } }, 'MODEL_NOT_FOUND'],
  [200, { object: 'response.input_tokens' }, 'MODEL_REPLY_INVALID'],
  [200, 'a page', 'MODEL_REPLY_INVALID'],
])('a counter of the responses API that answers %i with %j fails as %s', async (status, body, code) => {
  const server = await startServer((response) => {
    refuse(response, status, body)
  })
  const count = createProvider({ api: 'responses', baseURL: server.url }).countTokens?.(request, turnOptions)
  await expect(count).rejects.toMatchObject({ code })
})

describe('a complete response', () => {
  it('a complete response has content, usage and request id, and no cost', async () => {
    expect(await replyTo(replyOf(hello))).toEqual({
      model: 'gpt-5.6-2026-08-07',
      content: [
        {
          type: 'ai_sdk_message',
          provider: 'openai',
          model: 'claude-sonnet-5-5',
          parts: [{ type: 'text', providerOptions: { openai: { itemId: hello.item['id'] } } }],
        },
        { type: 'text', text: 'Hello' },
      ],
      stopReason: 'end_turn',
      usage: { inputTokens: 200, outputTokens: 20, cacheReadTokens: 1_024, cacheWriteTokens: 76 },
      costUsd: null,
      requestId: 'req_1',
    })
  })

  it('a response is the same for a stream of single bytes, and complete while the connection stays open', async () => {
    const server = await startServer(async (response) => {
      startChatStream(response)
      for (const byte of Buffer.from(replyOf(message('Grüße 🎈')).replaceAll('\n', '\r\n'))) {
        response.write(Uint8Array.of(byte))
        await new Promise(setImmediate)
      }
    })
    const { content } = await runTurn(createProvider({ api: 'responses', baseURL: server.url }))
    expect(content.at(-1)).toEqual({ type: 'text', text: 'Grüße 🎈' })
  })

  it('a response has parallel calls, even when the arguments of one are not JSON', async () => {
    const calls = [
      functionCall('call_1', 'execute_code', '{"code": "pri', 'nt(1)"}'),
      functionCall('call_2', 'add', '{"a'),
    ]
    const { content, stopReason } = await replyTo(replyOf(reasoning('abc'), ...calls))
    expect(stopReason).toBe('tool_use')
    expect(content.slice(1)).toMatchObject([
      { type: 'tool_use', id: 'call_1', name: 'execute_code', input: { code: 'print(1)' } },
      {
        type: 'tool_use',
        id: 'call_2',
        name: 'add',
        input: { invalid_json: '{"a' },
        input_problem: expect.any(String),
      },
    ])
  })

  it.each([
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['something_new', 'max_tokens'],
  ])(
    'a response that is incomplete because of %s has stop reason %s, and no partial program',
    async (reason, stopReason) => {
      const cut = functionCall('call_1', 'execute_code', '{"code": "delete_every')
      const reply = await replyTo(begin + cut.events(0) + incomplete(reason, [cut.item]))
      expect(reply).toMatchObject({ stopReason, content: [{}, { type: 'tool_use', input: {} }] })
    },
  )

  it('a response that is a refusal has its text', async () => {
    const content = [{ type: 'refusal', refusal: "I can't." }]
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }
    const added = event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } })
    const said = event('response.refusal.delta', { item_id: 'msg_1', output_index: 0, delta: "I can't." })
    const done = event('response.output_item.done', { output_index: 0, item })
    const reply = await replyTo(begin + added + said + done + completed([item]))
    expect(reply).toMatchObject({ content: [{}, { type: 'text', text: "I can't." }], stopReason: 'refusal' })
  })

  it('a response may have no output at its end, as some compatible servers send it', async () => {
    const { content } = await replyTo(`${begin}${hello.events(0)}${completed([])}data: [DONE]\n\n`)
    expect(content.at(-1)).toEqual({ type: 'text', text: 'Hello' })
  })
})

describe('a broken stream', () => {
  const call = functionCall('call_1', 'add', '{"a"', ':1}')
  it.each([
    ['nothing at all', ''],
    ['no last event', begin + hello.events(0)],
    ['a cut inside an event', replyOf(hello).slice(0, -50)],
    ['no event', 'data: 7\n\n'],
  ])('a broken stream of a response (%s) is MODEL_STREAM, never half a reply', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
  })

  it.each([
    [
      'an item that is not complete',
      begin + call.events(0).slice(0, call.events(0).indexOf('event: response.output_item.done')) + completed([]),
    ],
    ['invalid JSON before its end', `${begin}data: {"type"\n\n${replyOf(hello)}`],
    ['an event of the wrong shape', begin + event('response.output_text.delta', { output_index: 'one' })],
  ])('a broken stream of a response (%s) is MODEL_REPLY_INVALID', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID', retryable: true })
  })

  it('reads a response with two calls of one id, and without its last event', async () => {
    expect((await replyTo(replyOf(call, call))).content).toMatchObject([{}, { name: 'add' }, { name: 'add' }])
    const done = `${begin}${hello.events(0)}data: [DONE]\n\n`
    expect(await replyTo(done)).toMatchObject({ stopReason: 'end_turn' })
  })

  it.each([
    ['an item without its events', begin + completed([hello.item])],
    ['a call without a name', begin + functionCall('call_1', null as never, '{}').events(0) + completed([])],
  ])('refuses a response with %s, which no server was seen to send', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' })
  })

  it.each([
    [failed({ code: 'server_error', message: 'The model crashed.' }), 'MODEL_SERVER'],
    [failed({ code: 'rate_limit_exceeded', message: 'Slow down.' }), 'MODEL_RATE_LIMIT'],
    [failed({ code: 'invalid_prompt', message: 'Not this.' }), 'MODEL_BAD_REQUEST'],
    [failed({ code: 'image_parse_error', message: 'No image.' }), 'MODEL_BAD_REQUEST'],
    [event('error', { code: 'context_length_exceeded', message: 'Too long.', param: null }), 'MODEL_CONTEXT_TOO_LONG'],
    [event('error', { error: { type: 'server_error', code: null, message: 'Crashed.' } }), 'MODEL_SERVER'],
    [event('error', { code: null, message: 'Odd.', param: null }), 'MODEL_STREAM'],
  ])('an error (%#) in the stream of a response has its code', async (bytes, code) => {
    await expect(replyTo(begin + hello.events(0) + bytes)).rejects.toMatchObject({ code })
  })
})

it('sends a conversation back with its reasoning to the same model, and translated to others', async () => {
  const items = [reasoning('abc'), message('I add.'), functionCall('call_1', 'add', '{"a": 1}')]
  const server = await startStreamingServer(replyOf(...items))
  const turn = (name: string, model: string, messages: readonly Message[]) =>
    createProvider({ name, api: 'responses', baseURL: server.url }).turn({ ...request, model, messages }, turnOptions)
  const { content } = await turn('openai', 'm', request.messages)
  const messages: readonly Message[] = [
    ...request.messages,
    { role: 'assistant', content },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: '2' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' }, title: 'Q3.pdf' },
        { type: 'text', text: 'Go on.' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'text', text: 'So' },
      ],
    },
  ]
  await turn('openai', 'm', messages)
  await turn('openai', 'another', messages)
  await turn('other', 'm', messages)
  const rest = [
    { type: 'function_call_output', call_id: 'call_1', output: '2' },
    {
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        { type: 'input_file', filename: 'Q3.pdf', file_data: 'data:application/pdf;base64,BBBB' },
        { type: 'input_text', text: 'Go on.' },
      ],
    },
    { role: 'assistant', content: [{ type: 'output_text', text: 'So' }] },
  ]
  const [, same, ...others] = server.requests.map(({ body }) => body['input'])
  const user = { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
  const text = { role: 'assistant', content: [{ type: 'output_text', text: 'I add.' }] }
  const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' }
  const [thought, said] = items.map(({ item }) => item)
  expect(same).toEqual([user, thought, { ...text, id: said?.['id'] }, call, ...rest])
  const translated = [user, text, call, ...rest]
  expect(others).toEqual([translated, translated])
})

it('a run with the responses API keeps its reasoning over turns, and is in the live stream', async () => {
  const first = [
    reasoning('abc'),
    message('I ask ', 'it.'),
    functionCall('call_1', 'execute_code', '{"code": "print(', 'await ping())"}'),
  ]
  const replies = [replyOf(...first), replyOf(reasoning('def'), message('It says pong.'))]
  const server = await startServer((response) => {
    startChatStream(response)
    response.end(replies[server.requests.length - 1])
  })
  const env = await TestEnvironment.start({
    stream: fileStream({ folder: await temporaryFolder() }),
    tools: [tool('ping', () => 'pong')],
    providers: { local: { kind: 'openai', api: 'responses', baseURL: server.url } },
  })
  expect(await env.runAgent({ model: 'local/m', effort: 'high' })).toMatchObject({
    status: 'answered',
    answer: 'It says pong.',
    cells: 1,
    usage: { inputTokens: 400, outputTokens: 40, cacheReadTokens: 2_048, cacheWriteTokens: 152 },
    costUsd: null,
  })
  const id = expect.stringMatching(/^[A-Za-z0-9]{9}$/) as string
  expect(server.requests[1]?.body).toMatchObject({
    reasoning: { effort: 'high' },
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      first[0]?.item,
      { role: 'assistant', id: first[1]?.item['id'], content: [{ type: 'output_text', text: 'I ask it.' }] },
      { type: 'function_call', call_id: id, name: 'execute_code', arguments: '{"code":"print(await ping())"}' },
      { type: 'function_call_output', call_id: id, output: 'pong' },
    ],
  })
  const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
  expect(shownText(events)).toBe('I ask it.It says pong.')
  expect(shownText(events, 'code')).toBe('print(await ping())')
})
