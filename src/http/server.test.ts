import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { limitConnections } from './server.js'

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
