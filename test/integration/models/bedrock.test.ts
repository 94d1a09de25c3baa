import { inspect } from 'node:util'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { isolateTests, neverAborted, request, runTurn, startServer } from './harness.js'
import {
  createProvider,
  exceptionFrame,
  frame,
  frames,
  helloReply,
  messageEnd,
  messageStart,
  replyTo,
  startEventStream,
  startStreamingServer,
  stubAwsCredentials,
} from './bedrock-harness.js'

isolateTests()

beforeEach(stubAwsCredentials)

const toolBlock = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', id: 'toolu_bdrk_1', name: 'add', input: {} },
}
const inputDelta = (partial_json: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json },
})

describe('a request', () => {
  it("a request to Bedrock is signed for the region, with the model in its path and Bedrock's fields", async () => {
    const server = await startStreamingServer(helloReply)
    const tools = [{ name: 'add', description: 'Adds.', inputSchema: {}, inputExamples: [{ a: 1 }] }]
    const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
    await createProvider({ baseURL: server.url, region: 'eu-west-3' }).turn(
      { ...request, model, tools },
      { signal: neverAborted, onProgress: () => undefined },
    )
    const [sent] = server.requests
    expect(sent?.url).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke-with-response-stream')
    expect(sent?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-3\/bedrock\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/,
    )
    expect(sent?.headers).not.toHaveProperty('x-api-key')
    expect(sent?.body).toEqual({
      anthropic_version: expect.any(String) as string,
      max_tokens: 1_000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      tools: [
        {
          name: 'add',
          description: 'Adds.\n\nExamples of arguments:\n{"a":1}',
          input_schema: { type: 'object' },
          cache_control: { type: 'ephemeral' },
        },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    })
  })

  it('a request to Bedrock uses the region of the environment, and a temporary session', async () => {
    vi.stubEnv('AWS_REGION', 'ap-south-1')
    vi.stubEnv('AWS_SESSION_TOKEN', 'session')
    const server = await startStreamingServer(helloReply)
    await runTurn(createProvider({ baseURL: server.url }))
    expect(server.requests[0]?.headers.authorization).toContain('/ap-south-1/bedrock/')
    expect(server.requests[0]?.headers['x-amz-security-token']).toBe('session')
  })

  it('a request to Bedrock has its API key instead of a signature, and never the key of Anthropic', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-anthropic')
    vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', 'bedrock-key')
    const server = await startStreamingServer(helloReply)
    await runTurn(createProvider({ baseURL: server.url }))
    expect(inspect(server.requests[0]?.headers)).toContain('bedrock-key')
    expect(inspect(server.requests[0]?.headers)).not.toContain('key-of-anthropic')
  })
})

describe('a complete reply of Bedrock', () => {
  it('a complete reply of Bedrock has content, usage and the request id of AWS, and no cost', async () => {
    expect(await replyTo(helloReply)).toEqual({
      model: 'claude-sonnet-4-5-20250929',
      content: [{ type: 'text', text: 'Grüße 🎈' }],
      stopReason: 'end_turn',
      usage: { inputTokens: 12, outputTokens: 20, cacheReadTokens: 4_000, cacheWriteTokens: 300 },
      costUsd: null,
      requestId: 'aws-request-1',
    })
  })

  it('a reply of Bedrock is the same for a stream of single bytes', async () => {
    const server = await startServer(async (response) => {
      startEventStream(response)
      for (const byte of helloReply) {
        response.write(Uint8Array.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    expect((await runTurn(createProvider({ baseURL: server.url }))).content).toEqual([
      { type: 'text', text: 'Grüße 🎈' },
    ])
  })

  it('a reply of Bedrock joins the pieces of a tool input, and keeps thinking with its signature', async () => {
    const reply = await replyTo(
      frames(
        messageStart,
        toolBlock,
        inputDelta('{"a"'),
        inputDelta(': 1}'),
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '', signature: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'thinking_delta', thinking: 'Hm' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 'sig==' } },
        ...messageEnd('tool_use'),
      ),
    )
    expect(reply).toMatchObject({
      content: [
        { type: 'tool_use', id: 'toolu_bdrk_1', name: 'add', input: { a: 1 } },
        { type: 'thinking', thinking: 'Hm', signature: 'sig==' },
      ],
      stopReason: 'tool_use',
    })
  })
})

describe('a broken stream', () => {
  const half = frames(messageStart, toolBlock, inputDelta('{"a"'))
  const flipped = Buffer.from(helloReply)
  flipped[200] = (flipped[200] ?? 0) ^ 1

  it.each([
    ['nothing at all', Buffer.alloc(0)],
    ['no message_stop', half],
    ['a cut inside a frame', helloReply.subarray(0, -30)],
    ['a wrong checksum', flipped],
    ['no event stream', Buffer.from('<html>'.repeat(9))],
    ['a chunk that is no JSON', frame({ ':event-type': 'chunk', ':message-type': 'event' }, { bytes: 'bm8=' })],
  ])('a broken stream of Bedrock (%s) is MODEL_STREAM, never half a reply', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
  })

  it.each([
    ['throttlingException', 'MODEL_RATE_LIMIT'],
    ['internalServerException', 'MODEL_SERVER'],
    ['modelStreamErrorException', 'MODEL_STREAM'],
    ['modelTimeoutException', 'MODEL_TIMEOUT'],
    ['serviceUnavailableException', 'MODEL_OVERLOADED'],
    ['validationException', 'MODEL_BAD_REQUEST'],
    ['brandNewException', 'MODEL_STREAM'],
  ])('the exception %s in a stream of Bedrock is %s', async (type, code) => {
    const failed = replyTo(Buffer.concat([half, exceptionFrame(type, 'No luck')]))
    await expect(failed).rejects.toMatchObject({ code })
  })

  it('a reset connection to Bedrock is MODEL_CONNECTION, and a silent one MODEL_TIMEOUT', async () => {
    let silent = false
    const server = await startServer((response) => {
      startEventStream(response)
      response.write(half, () => (silent ? undefined : response.socket?.resetAndDestroy()))
    })
    await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
    silent = true
    const provider = createProvider({ baseURL: server.url, idleTimeoutMs: 200 })
    await expect(runTurn(provider)).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' })
  })

  it('a cancelled call of Bedrock throws the reason of the caller', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by the user')
    const server = await startServer((response) => {
      startEventStream(response)
      response.write(half, () => controller.abort(reason))
    })
    await expect(runTurn(createProvider({ baseURL: server.url }), controller.signal)).rejects.toBe(reason)
  })
})

describe('a refused request', () => {
  it.each([
    [400, 'ValidationException', 'Malformed input request', 'MODEL_BAD_REQUEST', false],
    [400, 'ValidationException', 'Input is too long for requested model.', 'MODEL_CONTEXT_TOO_LONG', false],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'MODEL_NOT_FOUND', false],
    [403, 'AccessDeniedException', 'You may not.', 'MODEL_AUTH', false],
    [404, 'ResourceNotFoundException', 'No such model.', 'MODEL_NOT_FOUND', false],
    [408, 'ModelTimeoutException', 'Too slow.', 'MODEL_TIMEOUT', true],
    [424, 'ModelErrorException', 'Inside the model.', 'MODEL_SERVER', true],
    [429, 'ThrottlingException', 'Too many tokens, please wait.', 'MODEL_RATE_LIMIT', true],
    [500, 'InternalServerException', 'Oops.', 'MODEL_SERVER', true],
    [503, 'ServiceUnavailableException', 'Down.', 'MODEL_SERVER', true],
  ])(
    'a refused request to Bedrock with %i %s (%s) is %s, and is not sent again',
    async (status, type, message, code, retryable) => {
      const server = await startServer((response) => {
        const headers = { 'content-type': 'application/json', 'x-amzn-requestid': 'aws-9', 'x-amzn-errortype': type }
        response.writeHead(status, headers).end(JSON.stringify({ message }))
      })
      await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({
        code,
        retryable,
        message: `The model API answered ${status}: ${message} (request aws-9)`,
      })
      expect(server.requests).toHaveLength(1)
    },
  )

  it('a refusal of Bedrock that echoes a secret keeps it secret', async () => {
    const server = await startServer((response) => {
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ message: 'wrong: very-secret-key' }))
    })
    const error: unknown = await runTurn(createProvider({ baseURL: server.url })).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'MODEL_AUTH', hint: expect.stringContaining('AWS credentials') as string })
    expect(inspect(error, { depth: 9 })).not.toContain('very-secret-key')
  })
})

it('missing credentials of Bedrock are MODEL_AUTH, before any request', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined)
  const server = await startStreamingServer(helloReply)
  await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({
    code: 'MODEL_AUTH',
    message: expect.stringContaining('There are no AWS credentials') as string,
  })
  expect(server.requests).toEqual([])
})
