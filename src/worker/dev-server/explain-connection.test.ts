import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { explainConnection } from './explain-connection.js'

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a host name that nobody knows', async () => {
  expect(await explainConnection('nowhere.invalid:7233', false)).toMatch(/^the host name nowhere\.invalid is not known/)
})

test('a port where nobody listens', async () => {
  expect(await explainConnection('127.0.0.1:1', false)).toBe('nothing listens there (connection refused)')
})

test('a server that is not Temporal', async () => {
  const address = await listening(createHttpServer())
  expect(await explainConnection(address, false)).toBe('what listens there is not Temporal')
})

test('a server that hangs up', async () => {
  const address = await listening(createServer((socket) => socket.destroy()))
  expect(await explainConnection(address, false)).toBe('what listens there is not Temporal')
})

test('TLS settings for a server without TLS', async () => {
  const address = await listening(createHttp2Server())
  expect(await explainConnection(address, true)).toMatch(/^it does not speak TLS/)
})

test('a server that answers as it should', async () => {
  const address = await listening(createHttp2Server())
  expect(await explainConnection(address, false)).toBeUndefined()
})
