import { describe, expect, it } from 'vitest'
import type { ModelProvider } from '../../../src/models/provider.js'
import { isolateTests, createProvider, startServer, startTcpServer, runTurn } from './harness.js'
import { helloReply, messageStart, startStream } from './raw-server.js'

isolateTests()

describe('timeouts', () => {
  const silent = { apiKey: 'k', idleTimeoutMs: 150 }

  it('F25: reports MODEL_TIMEOUT for a server that accepts the request and sends nothing', async () => {
    const server = await startServer(() => undefined)
    await expect(runTurn(createProvider({ ...silent, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: 'The model API sent no data for 150ms (model.idleTimeout).',
      retryable: true,
    })
  })

  it('F25: reports MODEL_TIMEOUT for a stream that stalls, and closes the connection', async () => {
    let closed: Promise<void> | undefined
    const server = await startServer((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startStream(response)
      response.write(messageStart)
    })
    await expect(runTurn(createProvider({ ...silent, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
    })
    await closed
  })

  it('pings keep a model call alive while the model thinks', async () => {
    const server = await startServer(async (response) => {
      startStream(response)
      response.write(messageStart)
      for (let n = 0; n < 14; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500))
        response.write('event: ping\ndata: {"type": "ping"}\n\n')
      }
      response.end(helloReply.slice(messageStart.length))
    })
    const provider = createProvider({ apiKey: 'k', idleTimeoutMs: 5_000, baseURL: server.url })
    expect((await runTurn(provider)).stopReason).toBe('end_turn')
  })

  it('a model call with pings ends at the total timeout', async () => {
    const server = await startServer((response) => {
      startStream(response)
      const pings = setInterval(() => response.write('event: ping\ndata: {"type": "ping"}\n\n'), 20)
      response.on('close', () => {
        clearInterval(pings)
      })
    })
    await expect(runTurn(createProvider({ apiKey: 'k', timeoutMs: 300, baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: "The model's reply was not complete after 300ms (timeouts.model).",
    })
  })
})

describe('cancellation', () => {
  it('a cancelled model call throws the caller’s reason, and closes the connection', async () => {
    const controller = new AbortController()
    const reason = new Error('cancelled by the user')
    let closed: Promise<void> | undefined
    const server = await startServer((response) => {
      closed = new Promise((resolve) => {
        response.on('close', resolve)
      })
      startStream(response)
      response.write(messageStart)
      controller.abort(reason)
    })
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: server.url }), controller.signal)).rejects.toBe(reason)
    await closed
  })

  it('a model call that is cancelled before its start sends no request', async () => {
    const server = await startServer((response) => response.end())
    const reason = new Error('too late')
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: server.url }), AbortSignal.abort(reason))).rejects.toBe(
      reason,
    )
    expect(server.requests).toEqual([])
  })

  it('closing the provider aborts running calls with a retryable error; closing is idempotent', async () => {
    const provider: ModelProvider[] = []
    const server = await startServer(() => provider[0]?.close())
    provider.push(createProvider({ apiKey: 'k', baseURL: server.url }))
    const [first] = provider
    if (first === undefined) throw new Error('no provider')
    await expect(runTurn(first)).rejects.toMatchObject({ code: 'MODEL_CONNECTION', retryable: true })
    await first.close()
    await expect(runTurn(first)).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
  })
})

describe('a connection error', () => {
  it('F25: a refused connection is MODEL_CONNECTION with the address', async () => {
    const server = await startTcpServer(() => undefined)
    const { port } = server
    await server.close()
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: `Can't reach the model API at http://127.0.0.1:${port}: connection refused (ECONNREFUSED).`,
    })
  })

  it('F25: a reset connection is MODEL_CONNECTION', async () => {
    const { port } = await startTcpServer((socket) => socket.resetAndDestroy())
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
    })
  })

  it('F25: a server without TLS is MODEL_CONNECTION', async () => {
    const { port } = await startTcpServer((socket) => {
      socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n', () => socket.destroy())
    })
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: `https://127.0.0.1:${port}` }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('TLS') as string,
    })
  })

  it('F25: an unknown host is MODEL_CONNECTION', async () => {
    // RFC 2606 reserves this name: it never exists.
    await expect(runTurn(createProvider({ apiKey: 'k', baseURL: 'http://api.invalid' }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
      message: expect.stringContaining('host not found') as string,
    })
  })
})
