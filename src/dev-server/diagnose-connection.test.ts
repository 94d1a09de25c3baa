import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { diagnoseConnection } from './diagnose-connection.js'

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('diagnoses an unknown host', async () => {
  expect(await diagnoseConnection('nowhere.invalid:7233', false)).toMatch(
    /^the host name nowhere\.invalid is not known/,
  )
})

test('diagnoses a refused connection', async () => {
  expect(await diagnoseConnection('127.0.0.1:1', false)).toBe('nothing listens at this address (connection refused)')
})

test('diagnoses a server that does not speak HTTP/2', async () => {
  const address = await listening(createHttpServer())
  expect(await diagnoseConnection(address, false)).toBe('the server at this address is not Temporal')
})

test('diagnoses a server that closes the connection', async () => {
  const address = await listening(createServer((socket) => socket.destroy()))
  expect(await diagnoseConnection(address, false)).toBe('the server at this address is not Temporal')
})

test('diagnoses TLS settings for a server without TLS', async () => {
  const address = await listening(createHttp2Server())
  expect(await diagnoseConnection(address, true)).toMatch(/^the server does not speak TLS/)
})

test('finds no problem of a server that speaks HTTP/2', async () => {
  const address = await listening(createHttp2Server())
  expect(await diagnoseConnection(address, false)).toBeUndefined()
})
