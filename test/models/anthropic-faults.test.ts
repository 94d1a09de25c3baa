import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnthropicProviderOptions } from '../../src/models/anthropic/options.js'
import { createAnthropicProvider } from '../../src/models/anthropic/provider.js'
import type { ModelProvider, ModelRequest } from '../../src/models/provider.js'
import { helloReply, messageStart, startRawServer, startStream } from './raw-server.js'

const request: ModelRequest = {
  model: 'claude-sonnet-5-5',
  maxTokens: 1_000,
  system: 'Be brief.',
  tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, inputExamples: [] }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
}

const open: { close(): Promise<void> }[] = []
beforeEach(() => {
  for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_PROFILE']) {
    vi.stubEnv(name, undefined)
  }
  // Where the SDK looks for profiles.
  vi.stubEnv('ANTHROPIC_CONFIG_DIR', '/nowhere')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function serve(...args: Parameters<typeof startRawServer>) {
  const server = await startRawServer(...args)
  open.push(server)
  return server
}

function provide(options: AnthropicProviderOptions): ModelProvider {
  const provider = createAnthropicProvider(options)
  open.push(provider)
  return provider
}

const never = new AbortController().signal
const turn = (provider: ModelProvider, signal = never) =>
  provider.turn(request, { signal, onProgress: () => undefined })

describe('one attempt', () => {
  it('sends the key, streams, asks for caching, and does not retry by itself', async () => {
    const server = await serve((response) => {
      response.writeHead(529, { 'content-type': 'application/json', 'retry-after': '2' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }))
    })
    const failed = turn(provide({ apiKey: 'test-key', baseURL: server.url }))
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

  it('finds key and base URL in the environment', async () => {
    const server = await serve((response) => {
      startStream(response)
      response.end(helloReply)
    })
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-the-environment')
    vi.stubEnv('ANTHROPIC_BASE_URL', server.url)
    expect((await turn(provide({}))).stopReason).toBe('end_turn')
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('key-of-the-environment')
  })

  it('counts tokens without making the model write', async () => {
    const server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ input_tokens: 42 }))
    })
    expect(await provide({ apiKey: 'k', baseURL: server.url }).countTokens(request, { signal: never })).toBe(42)
    expect(server.requests[0]?.url).toBe('/v1/messages/count_tokens')
    expect(server.requests[0]?.body).not.toHaveProperty('max_tokens')
  })

  it('reports what the model is doing, with growing counts', async () => {
    const server = await serve((response) => {
      startStream(response)
      response.end(helloReply)
    })
    const seen: string[] = []
    await provide({ apiKey: 'k', baseURL: server.url }).turn(request, {
      signal: never,
      onProgress: ({ phase, outputCharacters }) => seen.push(`${phase} ${outputCharacters}`),
    })
    expect(seen).toEqual(['waiting 0', 'waiting 0', 'text 0', 'text 5', 'waiting 5', 'waiting 5', 'waiting 5'])
  })
})

describe('credentials', () => {
  it('that are missing are MODEL_AUTH at once, with what to do, before anything is sent', async () => {
    const server = await serve((response) => response.end())
    await expect(turn(provide({ baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      message: 'There is no API key for the model.',
      hint: expect.stringContaining('ANTHROPIC_API_KEY') as string,
    })
    expect(server.requests).toEqual([])
  })

  it('that no header can carry are MODEL_AUTH, and stay secret', async () => {
    const server = await serve((response) => response.end())
    const failed = turn(provide({ apiKey: 'secret\nkey', baseURL: server.url }))
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'MODEL_AUTH' })
    expect(inspect(error, { depth: 9 })).not.toContain('secret')
  })

  it('that the server echoes stay secret', async () => {
    const server = await serve((response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { type: 'authentication_error', message: 'bad key: my-secret-key' } }))
    })
    const error: unknown = await turn(provide({ apiKey: 'my-secret-key', baseURL: server.url })).catch(
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
  ])('%j are refused', (options, message) => {
    expect(() => createAnthropicProvider(options)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message }) as Error,
    )
  })
})

describe('time', () => {
  const silent = { apiKey: 'k', idleTimeoutMs: 150 }

  it('a server that takes the request and says nothing is MODEL_TIMEOUT', async () => {
    const server = await serve(() => undefined)
    await expect(turn(provide({ ...silent, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: 'The model API said nothing for 150 ms.',
      retryable: true,
    })
  })

  it('a stream that stalls is MODEL_TIMEOUT, and the connection is closed', async () => {
    let closed: Promise<void> | undefined
    const server = await serve((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startStream(response)
      response.write(messageStart)
    })
    await expect(turn(provide({ ...silent, baseURL: server.url }))).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' })
    await closed
  })

  it('pings keep a call alive, however long the model thinks', async () => {
    const server = await serve(async (response) => {
      startStream(response)
      response.write(messageStart)
      for (let n = 0; n < 8; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        response.write('event: ping\ndata: {"type": "ping"}\n\n')
      }
      response.end(helloReply.slice(messageStart.length))
    })
    expect((await turn(provide({ ...silent, baseURL: server.url }))).stopReason).toBe('end_turn')
  })

  it('but not for ever', async () => {
    const server = await serve((response) => {
      startStream(response)
      const pings = setInterval(() => response.write('event: ping\ndata: {"type": "ping"}\n\n'), 20)
      response.on('close', () => {
        clearInterval(pings)
      })
    })
    await expect(turn(provide({ apiKey: 'k', timeoutMs: 300, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: "The model's reply was not complete after 300 ms.",
    })
  })
})

describe('giving up', () => {
  it('throws the caller’s own reason, and closes the connection', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by the user')
    let closed: Promise<void> | undefined
    const server = await serve((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startStream(response)
      response.write(messageStart)
      controller.abort(reason)
    })
    await expect(turn(provide({ apiKey: 'k', baseURL: server.url }), controller.signal)).rejects.toBe(reason)
    await closed
  })

  it('before the call sends nothing', async () => {
    const server = await serve((response) => response.end())
    const reason = new Error('too late')
    await expect(turn(provide({ apiKey: 'k', baseURL: server.url }), AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(server.requests).toEqual([])
  })

  it('by closing the provider ends what is under way with a retryable error, twice as well', async () => {
    const provider: ModelProvider[] = []
    const server = await serve(() => provider[0]?.close())
    provider.push(provide({ apiKey: 'k', baseURL: server.url }))
    const [first] = provider
    if (first === undefined) throw new Error('no provider')
    await expect(turn(first)).rejects.toMatchObject({ code: 'MODEL_CONNECTION', retryable: true })
    await first.close()
    await expect(turn(first)).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
  })
})

describe('a connection that fails', () => {
  /** A TCP server that treats each connection in one way. */
  async function tcp(treat: Parameters<typeof createTcpServer>[1]): Promise<number> {
    const server = createTcpServer({}, treat).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    open.push({
      close: () =>
        new Promise((resolve) => {
          server.close(() => {
            resolve()
          })
        }),
    })
    return (server.address() as AddressInfo).port
  }

  it('because nobody listens is MODEL_CONNECTION with the address', async () => {
    const port = await tcp(undefined)
    await open.pop()?.close()
    await expect(turn(provide({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: `Can't reach the model API at http://127.0.0.1:${port}: connection refused (ECONNREFUSED).`,
    })
  })

  it('because it is reset is MODEL_CONNECTION', async () => {
    const port = await tcp((socket) => socket.resetAndDestroy())
    await expect(turn(provide({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
    })
  })

  it('because the other side speaks no TLS is MODEL_CONNECTION', async () => {
    const port = await tcp((socket) => {
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n', () => socket.destroy())
    })
    await expect(turn(provide({ apiKey: 'k', baseURL: `https://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('TLS') as string,
    })
  })

  it('because there is no such host is MODEL_CONNECTION', async () => {
    // A name that by its standard never exists.
    await expect(turn(provide({ apiKey: 'k', baseURL: 'http://api.invalid' }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('host not found') as string,
    })
  })
})
