import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createAiSdkProvider } from '../ai-sdk/provider.js'
import { createAnthropicProvider } from '../anthropic/provider.js'
import type { ModelProvider } from '../provider.js'

const stream = (...events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const chatReply = stream({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })
const messagesReply = stream(
  { type: 'message_start', message: { model: 'm', content: [] } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
)

/** The addresses to which the proxy was asked to connect. */
const connects: string[] = []
const tunnels: Socket[] = []

const model = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(request.url?.endsWith('/messages') ? messagesReply : chatReply)
})
const proxy = createServer().on('connect', ({ url = '' }, client: Socket) => {
  connects.push(url)
  tunnels.push(client)
  client.on('error', () => undefined)
  // The proxy knows the address of only one server.
  if (!url.endsWith('.models.example:80')) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  const target = connect(portOf(model), '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    target.pipe(client).pipe(target)
  })
  tunnels.push(target)
  target.on('error', () => undefined)
  return undefined
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port

beforeAll(async () => {
  for (const server of [model, proxy]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})

afterAll(() => {
  for (const tunnel of tunnels) tunnel.destroy()
  for (const server of [model, proxy]) {
    server.close()
    server.closeAllConnections()
  }
})

afterEach(() => {
  vi.unstubAllEnvs()
  connects.splice(0)
})

async function ask(provider: ModelProvider): Promise<unknown> {
  const request = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }
  const options = { signal: new AbortController().signal, onProgress: () => undefined }
  const { content } = await provider.turn(request, options)
  return content
}

const providers = {
  anthropic: (baseURL: string) => createAnthropicProvider({ baseURL, apiKey: 'key' }),
  openai: (baseURL: string) => createAiSdkProvider({ name: 'openai', baseURL }),
}

it.each(['anthropic', 'openai'] as const)('sends requests to %s through the proxy of the environment', async (kind) => {
  const proxyURL = `http://127.0.0.1:${portOf(proxy)}`
  vi.stubEnv('HTTPS_PROXY', proxyURL)
  vi.stubEnv('HTTP_PROXY', proxyURL)
  const hi = [{ type: 'text', text: 'Hi' }]
  expect(await ask(providers[kind](`http://${kind}.models.example/v1`))).toEqual(hi)
  expect(connects).toEqual([`${kind}.models.example:80`])
  await expect(ask(providers[kind]('https://other.example/v1'))).rejects.toMatchObject({
    code: 'MODEL_CONNECTION',
    message: expect.stringContaining('the proxy answered 403') as string,
  })
  expect(connects).toEqual([`${kind}.models.example:80`, 'other.example:443'])
  // A request that bypasses the proxy.
  vi.stubEnv('NO_PROXY', '127.0.0.1')
  expect(await ask(providers[kind](`http://127.0.0.1:${portOf(model)}/v1`))).toEqual(hi)
  expect(connects).toHaveLength(2)
})

it('connects directly without a proxy in the environment', async () => {
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']) vi.stubEnv(name, undefined)
  expect(await ask(providers.openai(`http://127.0.0.1:${portOf(model)}/v1`))).toEqual([{ type: 'text', text: 'Hi' }])
  expect(connects).toEqual([])
})
