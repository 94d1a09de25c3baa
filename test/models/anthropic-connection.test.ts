import { describe, expect, it } from 'vitest'
import type { ModelProvider } from '../../src/models/provider.js'
import { isolateTests, provide, serve, serveTcp, turn } from './harness.js'
import { helloReply, messageStart, startStream } from './raw-server.js'

isolateTests()

describe('time', () => {
  const silent = { apiKey: 'k', idleTimeoutMs: 150 }

  it('F25: a server that takes the request and says nothing is MODEL_TIMEOUT', async () => {
    const server = await serve(() => undefined)
    await expect(turn(provide({ ...silent, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: 'The model API said nothing for 150 ms.',
      retryable: true,
    })
  })

  it('F25: a stream that stalls is MODEL_TIMEOUT, and the connection is closed', async () => {
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
      for (let n = 0; n < 14; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500))
        response.write('event: ping\ndata: {"type": "ping"}\n\n')
      }
      response.end(helloReply.slice(messageStart.length))
    })
    const provider = provide({ apiKey: 'k', idleTimeoutMs: 5_000, baseURL: server.url })
    expect((await turn(provider)).stopReason).toBe('end_turn')
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
  it('F25: because nobody listens is MODEL_CONNECTION with the address', async () => {
    const server = await serveTcp(() => undefined)
    const { port } = server
    await server.close()
    await expect(turn(provide({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: `Can't reach the model API at http://127.0.0.1:${port}: connection refused (ECONNREFUSED).`,
    })
  })

  it('F25: because it is reset is MODEL_CONNECTION', async () => {
    const { port } = await serveTcp((socket) => socket.resetAndDestroy())
    await expect(turn(provide({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
    })
  })

  it('F25: because the other side speaks no TLS is MODEL_CONNECTION', async () => {
    const { port } = await serveTcp((socket) => {
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n', () => socket.destroy())
    })
    await expect(turn(provide({ apiKey: 'k', baseURL: `https://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('TLS') as string,
    })
  })

  it('F25: because there is no such host is MODEL_CONNECTION', async () => {
    // A name that by its standard never exists.
    await expect(turn(provide({ apiKey: 'k', baseURL: 'http://api.invalid' }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('host not found') as string,
    })
  })
})
