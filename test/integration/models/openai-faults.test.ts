import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { isolateTests, runTurn, startServer, startTcpServer } from './harness.js'
import {
  chunk,
  createProvider,
  event,
  helloReply,
  refuse,
  startChatStream,
  startStreamingServer,
} from './openai-harness.js'

isolateTests()

describe('a refused request', () => {
  const openAI = (message: string, type: string, code: string | null) => ({
    error: { message, type, param: null, code },
  })
  it.each<[number, unknown, string, boolean]>([
    [400, openAI('Bad.', 'invalid_request_error', null), 'MODEL_BAD_REQUEST', false],
    [400, openAI('Too long.', 'invalid_request_error', 'context_length_exceeded'), 'MODEL_CONTEXT_TOO_LONG', false],
    [
      400,
      { error: { message: "This model's maximum context length is 4096 tokens.", type: 'BadRequestError', code: 400 } },
      'MODEL_CONTEXT_TOO_LONG',
      false,
    ],
    [
      400,
      [{ error: { code: 400, message: 'The input token count (9) exceeds the maximum', status: 'INVALID_ARGUMENT' } }],
      'MODEL_CONTEXT_TOO_LONG',
      false,
    ],
    [
      400,
      [
        {
          error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' },
        },
      ],
      'MODEL_AUTH',
      false,
    ],
    [401, openAI('Wrong key.', 'invalid_request_error', 'invalid_api_key'), 'MODEL_AUTH', false],
    [402, { error: { message: 'Insufficient credits', code: 402 } }, 'MODEL_AUTH', false],
    [403, { error: 'forbidden' }, 'MODEL_AUTH', false],
    [404, openAI('No model.', 'invalid_request_error', 'model_not_found'), 'MODEL_NOT_FOUND', false],
    [404, { detail: 'Not Found' }, 'MODEL_NOT_FOUND', false],
    [422, { detail: 'wrong' }, 'MODEL_BAD_REQUEST', false],
    [429, openAI('Slow down.', 'tokens', 'rate_limit_exceeded'), 'MODEL_RATE_LIMIT', true],
    [429, openAI('No credit.', 'insufficient_quota', 'insufficient_quota'), 'MODEL_AUTH', false],
    [500, openAI('Oops.', 'server_error', null), 'MODEL_SERVER', true],
    [502, '<html>', 'MODEL_SERVER', true],
    [503, openAI('Overloaded.', 'server_error_2', null), 'MODEL_OVERLOADED', true],
    [504, null, 'MODEL_TIMEOUT', true],
  ])(
    'a refused request to OpenAI with %i %j is %s (retryable: %s), and is not sent again',
    async (status, body, code, retryable) => {
      const server = await startServer((response) => refuse(response, status, body, { 'retry-after': '2' }))
      const error: unknown = await runTurn(createProvider({ baseURL: server.url })).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code, retryable, retryAfterMs: 2_000, hint: expect.any(String) as string })
      expect((error as Error).message).toMatch(/^The model API answered \d{3}: .*\S \(request req_9\)$/)
      expect(server.requests).toHaveLength(1)
    },
  )

  it('a refusal of OpenAI that echoes the key keeps it secret', async () => {
    vi.stubEnv('MY_KEY', 'my-secret-key')
    const server = await startServer((response) =>
      refuse(response, 401, {
        error: { message: 'Incorrect API key provided: my-secret-key, sk-proj-***********abc.' },
      }),
    )
    const failed = runTurn(createProvider({ baseURL: server.url, keyVariable: 'MY_KEY' }))
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'MODEL_AUTH',
      message: 'The model API answered 401: Incorrect API key provided: [redacted], [redacted]. (request req_9)',
      hint: expect.stringContaining('MY_KEY') as string,
    })
    expect(inspect(error, { depth: 9 })).not.toContain('my-secret-key')
  })
})

describe('a key', () => {
  it('a missing key of OpenAI is MODEL_AUTH with its variable, before any request', async () => {
    const server = await startStreamingServer(helloReply)
    vi.stubEnv('OPENAI_BASE_URL', server.url)
    await expect(runTurn(createProvider({}))).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: 'There is no API key for the model: OPENAI_API_KEY is not set.',
    })
    expect(server.requests).toEqual([])
  })

  it('a key of OpenAI that is not a valid header is MODEL_AUTH, and stays secret', async () => {
    const server = await startStreamingServer(helloReply)
    vi.stubEnv('MY_KEY', 'secret\nkey')
    const failed = runTurn(createProvider({ baseURL: server.url, keyVariable: 'MY_KEY' }))
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'MODEL_AUTH' })
    expect(inspect(error, { depth: 9 })).not.toContain('secret')
    expect(server.requests).toEqual([])
  })
})

describe('a call', () => {
  it('a call of OpenAI is MODEL_TIMEOUT when the server sends nothing, and closes the connection', async () => {
    let closed: Promise<void> | undefined
    const server = await startServer((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startChatStream(response)
      response.write(chunk({ content: 'x' }))
    })
    await expect(runTurn(createProvider({ baseURL: server.url, idleTimeoutMs: 150 }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: 'The model API sent no data for 150ms (model.idleTimeout).',
    })
    await closed
  })

  it('comments keep a call of OpenAI alive, and it ends at the total timeout', async () => {
    const server = await startServer((response) => {
      startChatStream(response)
      const comments = setInterval(() => response.write(': PROCESSING\n\n'), 20)
      response.on('close', () => {
        clearInterval(comments)
      })
    })
    await expect(runTurn(createProvider({ baseURL: server.url, timeoutMs: 300 }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: "The model's reply was not complete after 300ms (timeouts.model).",
    })
  })

  it('a cancelled call of OpenAI throws the caller’s reason, and closes the connection', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by the user')
    let closed: Promise<void> | undefined
    const server = await startServer((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startChatStream(response)
      response.write(event({ choices: [] }))
      controller.abort(reason)
    })
    await expect(runTurn(createProvider({ baseURL: server.url }), controller.signal)).rejects.toBe(reason)
    await closed
  })

  it('closing the provider of OpenAI aborts a call with a retryable error', async () => {
    const server = await startServer(() => provider.close())
    const provider = createProvider({ baseURL: server.url })
    await expect(runTurn(provider)).rejects.toMatchObject({ code: 'MODEL_CONNECTION', retryable: true })
    await expect(runTurn(provider)).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
  })

  it('a refused connection to OpenAI is MODEL_CONNECTION with the address', async () => {
    const server = await startTcpServer(() => undefined)
    const { port } = server
    await server.close()
    await expect(runTurn(createProvider({ baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: `Can't reach the model API at http://127.0.0.1:${port}: connection refused (ECONNREFUSED).`,
    })
  })
})
