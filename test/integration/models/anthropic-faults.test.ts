import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import type { AnthropicProviderOptions } from '../../../src/models/anthropic/options.js'
import { createAnthropicProvider } from '../../../src/models/anthropic/provider.js'
import { isolateTests, neverAborted, createProvider, request, startServer, startTcpServer, runTurn } from './harness.js'
import { helloReply, startStream } from './raw-server.js'

isolateTests()

describe('request', () => {
  it('a request sends the key, streams, uses prompt caching, and does not retry', async () => {
    const server = await startServer((response) => {
      response.writeHead(529, { 'content-type': 'application/json', 'retry-after': '2' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))
    })
    const failed = runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))
    await expect(failed).rejects.toMatchObject({ code: 'MODEL_OVERLOADED', retryAfterMs: 2_000 })
    expect(server.requests).toHaveLength(1)
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('test-key')
    expect(server.requests[0]?.body).toEqual({
      model: 'claude-sonnet-5-5',
      max_tokens: 1_000,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      tools: [
        { name: 'add', description: 'Adds.', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    })
  })

  it('a request finds key and base URL in the environment', async () => {
    const server = await startServer((response) => {
      startStream(response)
      response.end(helloReply)
    })
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-the-environment')
    vi.stubEnv('ANTHROPIC_BASE_URL', server.url)
    expect((await runTurn(createProvider({}))).stopReason).toBe('end_turn')
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('key-of-the-environment')
  })

  it('a request reports the phase of the reply, with growing counts', async () => {
    const server = await startServer((response) => {
      startStream(response)
      response.end(helloReply)
    })
    const seen: string[] = []
    await createProvider({ apiKey: 'k', baseURL: server.url }).turn(request, {
      signal: neverAborted,
      onProgress: ({ phase, outputCharacters }) => seen.push(`${phase} ${outputCharacters}`),
    })
    expect(seen).toEqual(['waiting 0', 'waiting 0', 'text 0', 'text 5', 'waiting 5', 'waiting 5', 'waiting 5'])
  })
})

describe('credentials', () => {
  it('missing credentials are MODEL_AUTH with a hint, before any request', async () => {
    const server = await startServer((response) => response.end())
    await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: 'There is no API key for the model.',
      hint: expect.stringContaining('ANTHROPIC_API_KEY') as string,
    })
    expect(server.requests).toEqual([])
  })

  it('credentials of a named variable are used alone, and are MODEL_AUTH when they are missing', async () => {
    const server = await startServer((response) => {
      startStream(response)
      response.end(helloReply)
    })
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-the-environment')
    vi.stubEnv('MY_KEY', 'my-key')
    await runTurn(createProvider({ baseURL: server.url, keyVariable: 'MY_KEY' }))
    expect(server.requests[0]?.headers.authorization).toBe('Bearer my-key')
    await expect(runTurn(createProvider({ baseURL: server.url, keyVariable: 'NOT_SET' }))).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: 'There is no API key for the model: NOT_SET is not set.',
    })
    expect(server.requests).toHaveLength(1)
  })

  it('credentials that are not a valid header are MODEL_AUTH, and stay secret', async () => {
    const server = await startServer((response) => response.end())
    const failed = runTurn(createProvider({ apiKey: 'secret\nkey', baseURL: server.url }))
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'MODEL_AUTH' })
    expect(inspect(error, { depth: 9 })).not.toContain('secret')
  })

  it('credentials whose token endpoint is down are retryable', async () => {
    // The SDK's sign-in without a key: it requests tokens from the base URL, where no HTTP server runs.
    vi.stubEnv('ANTHROPIC_FEDERATION_RULE_ID', 'rule')
    vi.stubEnv('ANTHROPIC_ORGANIZATION_ID', 'organization')
    vi.stubEnv('ANTHROPIC_IDENTITY_TOKEN', 'identity')
    const { port } = await startTcpServer((socket) => socket.resetAndDestroy())
    await expect(runTurn(createProvider({ baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      retryable: true,
    })
  })

  it('credentials of a profile that does not exist are MODEL_AUTH', async () => {
    vi.stubEnv('ANTHROPIC_PROFILE', 'nobody')
    const failed = runTurn(createProvider({ baseURL: 'http://127.0.0.1:9' }))
    await expect(failed).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: expect.stringContaining('"nobody"') as string,
    })
  })

  it('credentials that the server echoes stay secret', async () => {
    const server = await startServer((response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { type: 'authentication_error', message: 'bad key: my-secret-key' } }))
    })
    const error: unknown = await runTurn(createProvider({ apiKey: 'my-secret-key', baseURL: server.url })).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({ code: 'MODEL_AUTH', message: 'The model API answered 401: bad key: [redacted]' })
    expect(inspect(error, { depth: 9 })).not.toContain('my-secret-key')
  })
})

describe('options', () => {
  it.each<[AnthropicProviderOptions, string]>([
    [{ idleTimeoutMs: 0 }, 'idleTimeoutMs must be a whole number of milliseconds from 1 to 2147483647, not 0.'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs must be a whole number of milliseconds from 1 to 2147483647, not NaN.'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs must be a whole number of milliseconds from 1 to 2147483647, not 2147483648.'],
    [{ apiKey: ' ' }, 'apiKey must not be empty; leave it out to use ANTHROPIC_API_KEY.'],
    [{ baseURL: 'api.example' }, `The model's base URL must be an http or https URL, not "api.example".`],
    [{ baseURL: 'ftp://api.example' }, `The model's base URL must be an http or https URL, not "ftp://api.example".`],
    [{ baseURL: 'https://me:password@api.example' }, "The model's base URL must not hold credentials."],
  ])('refuses the options %j of a provider', (options, message) => {
    expect(() => createAnthropicProvider(options)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message }) as Error,
    )
  })
})
