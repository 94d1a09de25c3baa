import {
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ContentTooLargeError,
  InternalServerError,
  NotFoundError,
  OverloadedError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import type { ScriptedFault } from '../../../src/testing/scripted-messages-api/script/faults.js'
import { createClient, createdAndStreamed, validRequest, textTurn, startServer } from './support.js'

const expenses: ScriptedTurn = {
  reply: {
    content: [
      { type: 'text', text: 'I will look it up. 👍🏽' },
      { type: 'tool_use', name: 'execute_code', input: { code: 'print("ü")\n', nested: { list: [1, null, 'x'] } } },
      { type: 'tool_use', name: 'no_arguments', input: {} },
    ],
  },
}

function failing(...faults: readonly ScriptedFault[]): readonly ScriptedTurn[] {
  return [{ ...textTurn('Hello there, how are you?'), faults }]
}

test('a streamed reply and a plain one are the same message', async () => {
  const client = createClient(await startServer({ script: [expenses] }))

  const [plain, streamed] = await createdAndStreamed(client)

  expect(plain).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    id: expect.stringMatching(/^msg_01\w{22}$/),
    stop_reason: 'tool_use',
    stop_sequence: null,
    content: [
      { type: 'text', text: 'I will look it up. 👍🏽' },
      {
        type: 'tool_use',
        id: expect.stringMatching(/^toolu_01\w{22}$/),
        name: 'execute_code',
        input: { code: 'print("ü")\n', nested: { list: [1, null, 'x'] } },
        caller: { type: 'direct' },
      },
      { type: 'tool_use', name: 'no_arguments', input: {} },
    ],
  })
  expect(streamed.content).toMatchObject(plain.content)
  // The client adds a field to streamed messages.
  expect({ ...streamed, content: null }).toEqual({ ...plain, content: null, parsed_output: null })
})

test('text and input arrive in small chunks', async () => {
  const client = createClient(await startServer({ script: [expenses] }))

  const names: string[] = []
  const deltas: string[] = []
  for await (const event of await client.messages.create({ ...validRequest, stream: true })) {
    names.push(event.type)
    if (event.type !== 'content_block_delta') continue
    if (event.delta.type === 'text_delta') deltas.push(event.delta.text)
    if (event.delta.type === 'input_json_delta') deltas.push(event.delta.partial_json)
  }

  expect(names.filter((name) => name === 'content_block_delta').length).toBeGreaterThan(8)
  expect(Math.max(...deltas.map((delta) => delta.length))).toBeLessThanOrEqual(20)
  expect(names.at(-2)).toBe('message_delta')
  expect(names.at(-1)).toBe('message_stop')
})

test('counted tokens are the input tokens of the message', async () => {
  const client = createClient(await startServer({ script: [expenses] }))
  const tools = [{ name: 'x', description: 'long '.repeat(50), input_schema: { type: 'object' as const } }]
  const prompt = { model: validRequest.model, messages: validRequest.messages, system: 'Be brief.', tools }

  const counted = await client.messages.countTokens(prompt)
  const message = await client.messages.create({ ...prompt, max_tokens: 1_000 })

  expect(counted.input_tokens).toBe(message.usage.input_tokens)
  expect(counted.input_tokens).toBeGreaterThan(
    (await client.messages.countTokens({ ...prompt, tools: [] })).input_tokens,
  )
})

test('a conversation continues with results, and the answer quotes the output', async () => {
  const answer = textTurn('The answer is {{last_tool_result}}.')
  const client = createClient(await startServer({ script: [expenses, answer] }))
  const first = await client.messages.create(validRequest)
  const results = first.content.flatMap((block) =>
    block.type === 'tool_use'
      ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: `${block.name} 9,177.88` }]
      : [],
  )

  const second = await client.messages
    .stream({
      ...validRequest,
      messages: [
        ...validRequest.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    })
    .finalText()

  expect(second).toBe('The answer is no_arguments 9,177.88.')
})

test('unknown blocks and stop reasons are sent unchanged', async () => {
  const reply = { content: [{ type: 'mood', value: { level: 3 } }], stop_reason: 'daydreaming' }
  const client = createClient(await startServer({ script: [{ reply }] }))

  for (const message of await createdAndStreamed(client)) {
    expect(message).toMatchObject({ content: [{ type: 'mood', value: { level: 3 } }], stop_reason: 'daydreaming' })
  }
})

test('thinking and server tools stream as in the real API, and are complete at the end', async () => {
  const thinking = { type: 'thinking', thinking: 'Let me see what this is about.', signature: 'c2lnbmF0dXJl' }
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } }
  const client = createClient(await startServer({ script: [{ reply: { content: [thinking, search] } }] }))

  const deltas: string[] = []
  const stream = client.messages.stream(validRequest)
  stream.on('streamEvent', (event) => event.type === 'content_block_delta' && deltas.push(event.delta.type))

  expect((await stream.finalMessage()).content).toMatchObject([thinking, search])
  expect((await client.messages.create(validRequest)).content).toEqual([thinking, search])
  expect(new Set(deltas)).toEqual(new Set(['thinking_delta', 'signature_delta', 'input_json_delta']))
})

test('refusal, paused turn and empty content are sent as scripted', async () => {
  const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
  const container = { id: 'container_1', expires_at: '2030-01-01T00:00:00Z', skills: null }
  const client = createClient(
    await startServer({ script: [{ reply: { content: [], stop_reason: 'refusal', stop_details, container } }] }),
  )

  for (const message of await createdAndStreamed(client)) {
    expect(message).toMatchObject({ content: [], stop_reason: 'refusal', stop_details, container })
  }
})

test('max_tokens truncates a call in the middle of its JSON', async () => {
  const client = createClient(await startServer({ script: [expenses] }))
  let json = ''
  const stream = client.messages.stream({ ...validRequest, max_tokens: 15 })
  stream.on('inputJson', (partial) => (json += partial))

  const message = await stream.finalMessage()

  expect(message.stop_reason).toBe('max_tokens')
  expect(message.usage.output_tokens).toBeLessThanOrEqual(15)
  expect(json).toMatch(/^\{"code":"pr/)
  expect(() => JSON.parse(json) as unknown).toThrow(SyntaxError)
})

test('a cached prefix is written, then read', async () => {
  const client = createClient(await startServer({ script: [textTurn('Hi')] }))
  const system = [{ type: 'text' as const, text: 'word '.repeat(1_000), cache_control: { type: 'ephemeral' as const } }]

  const [first, second] = [
    await client.messages.create({ ...validRequest, system }),
    await client.messages.stream({ ...validRequest, system }).finalMessage(),
  ]

  expect(first.usage).toMatchObject({ cache_creation_input_tokens: 1_429, cache_read_input_tokens: 0 })
  expect(first.usage.cache_creation).toEqual({ ephemeral_5m_input_tokens: 1_429, ephemeral_1h_input_tokens: 0 })
  expect(second.usage).toMatchObject({ cache_creation_input_tokens: 0, cache_read_input_tokens: 1_429 })
  expect(second.usage.input_tokens).toBe(first.usage.input_tokens)
})

test('scripted usage overrides counted usage', async () => {
  const reply = { content: [{ type: 'text', text: 'Hi' }], usage: { output_tokens: 777 } }
  const client = createClient(await startServer({ script: [{ reply }] }))

  expect((await client.messages.stream(validRequest).finalMessage()).usage.output_tokens).toBe(777)
})

const statuses: readonly (readonly [
  status: number,
  type: string,
  errorClass: abstract new (...args: never[]) => Error,
])[] = [
  [400, 'invalid_request_error', BadRequestError],
  [401, 'authentication_error', AuthenticationError],
  [403, 'permission_error', PermissionDeniedError],
  [404, 'not_found_error', NotFoundError],
  [413, 'request_too_large', ContentTooLargeError],
  [429, 'rate_limit_error', RateLimitError],
  [500, 'api_error', InternalServerError],
  [529, 'overloaded_error', OverloadedError],
]

test.each(statuses)(
  'a scripted %i is an error of the client, and the next attempt succeeds',
  async (status, type, errorClass) => {
    const client = createClient(await startServer({ script: failing({ type: 'status', attempt: 1, status }) }))

    const error: unknown = await client.messages.create(validRequest).catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(errorClass)
    expect(error).toMatchObject({ status, type, requestID: expect.stringMatching(/^req_/) })
    expect(await client.messages.stream(validRequest).finalText()).toBe('Hello there, how are you?')
  },
)

test('Retry-After and the error message are available', async () => {
  const error = { message: 'Number of requests has exceeded your rate limit' }
  const fault = { type: 'status', attempt: 'every', status: 429, headers: { 'retry-after': '7' }, error } as const
  const client = createClient(await startServer({ script: failing(fault) }))

  const thrown: unknown = await client.messages
    .stream(validRequest)
    .finalMessage()
    .catch((caught: unknown) => caught)

  expect(thrown).toBeInstanceOf(RateLimitError)
  expect((thrown as RateLimitError).headers?.get('retry-after')).toBe('7')
  expect((thrown as Error).message).toContain('Number of requests has exceeded your rate limit')
})

const broken: readonly (readonly [name: string, fault: ScriptedFault, error: object])[] = [
  ['closed before any byte', { type: 'close', attempt: 1 }, { message: 'Connection error.' }],
  ['reset before any byte', { type: 'close', attempt: 1, mode: 'reset' }, { message: 'Connection error.' }],
  ['cut in the middle of a block', { type: 'cut', attempt: 1, at: { insideBlock: 0 } }, { message: 'terminated' }],
  [
    'reset before message_stop',
    { type: 'cut', attempt: 1, at: { before: 'message_stop' }, mode: 'reset' },
    { message: 'terminated' },
  ],
  ['cut after ten bytes', { type: 'cut', attempt: 1, at: { bytes: 10 } }, { message: 'terminated' }],
  ['with an error event', { type: 'error_event', attempt: 1, at: { insideBlock: 0 } }, { type: 'overloaded_error' }],
  [
    'with broken JSON',
    { type: 'garbage', attempt: 1, at: { insideBlock: 0 } },
    { message: expect.stringContaining('JSON') },
  ],
]

test.each(broken)('a stream %s is an error of the client', async (_name, fault, expected) => {
  const client = createClient(await startServer({ script: failing(fault) }))

  const thrown: unknown = await client.messages
    .stream(validRequest)
    .finalMessage()
    .catch((caught: unknown) => caught)

  expect(thrown).toBeInstanceOf(Error)
  expect(chain(thrown)).toContainEqual(expect.objectContaining(expected))
  expect(await client.messages.stream(validRequest).finalText()).toBe('Hello there, how are you?')
})

/** An error and its causes. */
function chain(thrown: unknown): readonly unknown[] {
  return thrown instanceof Error ? [thrown, ...chain(thrown.cause)] : []
}

test('a stream that ends cleanly but early is an error of finalMessage, but not of iteration', async () => {
  const fault = { type: 'cut', attempt: 'every', at: { before: 'message_delta' }, mode: 'end' } as const
  const client = createClient(await startServer({ script: failing(fault) }))

  const names: string[] = []
  for await (const { type } of await client.messages.create({ ...validRequest, stream: true })) names.push(type)

  expect(names.at(-1)).toBe('content_block_stop')
  await expect(client.messages.stream(validRequest).finalMessage()).rejects.toThrow(
    'stream ended without producing a Message',
  )
})

test('a stalled stream can be aborted, and is recorded as abandoned', async () => {
  const server = await startServer({ script: failing({ type: 'stall', attempt: 1, at: { insideBlock: 0 } }) })
  const stream = createClient(server).messages.stream(validRequest)
  const ended = stream.finalMessage().catch((caught: unknown) => caught)
  await new Promise((resolve) => stream.once('text', resolve))

  stream.abort()

  expect(await ended).toBeInstanceOf(APIUserAbortError)
  await server.waitForRequest(({ outcome }) => outcome === 'abandoned')
})

test('slow streams and delays take the configured time', async () => {
  const faults = [{ type: 'delay', attempt: 1, ms: 60 }] as const
  const client = createClient(await startServer({ script: [{ ...textTurn('Hi'), msPerChunk: 10, faults }] }))
  const begun = performance.now()

  await client.messages.stream(validRequest).finalMessage()

  // 60 ms, and 10 ms before each of seven events. Timers may fire a millisecond early.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(60 + 7 * 10 - 8)
})
