import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { limitConnections, startHttpServer } from './server.js'

it('serves a client while other connections never complete a request', async () => {
  const server = createServer((_request, response) => response.end('ok'))
  limitConnections(server, 10)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const slow = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  for (const socket of slow) socket.write('GET / HTTP/1.1\r\n')
  await vi.waitFor(() => expect(slow.filter((socket) => socket.closed).length).toBeGreaterThanOrEqual(20))
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('ok')
})

it.each([
  ['ends a request whose body does not arrive within 30 seconds', false],
  ['waits for a body when its handler allows a long one', true],
])('%s', async (_name, isLong) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const reading = vi.fn()
  const server = await startHttpServer({
    name: 'the server',
    port: 0,
    token: undefined,
    origins: new Set(),
    tokenHint: '',
    async respond({ request, response, allowLongBody }) {
      if (isLong) allowLongBody()
      const body = buffer(request)
      reading()
      response.end(await body)
    },
    respondToError: (_thrown, _request, response) => void response.destroy(),
  })
  onTestFinished(() => server.close())
  const { host, hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(`PUT / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\na`)
  await vi.waitUntil(() => reading.mock.calls.length === 1)
  vi.advanceTimersByTime(31_000)
  if (isLong) socket.write('b')
  expect(await text(socket)).toMatch(isLong ? /\r\n\r\nab$/ : /^$/)
})
