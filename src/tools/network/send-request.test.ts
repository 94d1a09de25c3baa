import dns from 'node:dns'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it, vi } from 'vitest'
import { RecordingServer } from '../../../test/support/openapi/recording-server.js'
import { sendRequest } from './send-request.js'

afterEach(() => void vi.restoreAllMocks())

/** Makes a host resolve to one list of addresses after the other. */
function resolveTo(...answers: readonly (readonly string[])[]) {
  const queue = [...answers]
  const answer = (_host: string, _options: object, callback: (error: null, found: object[]) => void) => {
    const addresses = queue.length > 1 ? queue.shift() : queue[0]
    callback(
      null,
      (addresses ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return vi.spyOn(dns, 'lookup').mockImplementation(answer as never)
}

function send(url: string, options: Partial<Parameters<typeof sendRequest>[0]> = {}, maxBytes = 1_000) {
  const request = { method: 'GET', url: new URL(url), headers: {}, isConfigured: true, isRepeatable: true }
  return sendRequest({ ...request, signal: new AbortController().signal, ...options }, () => maxBytes)
}

const refused = { name: 'NotSentError', isTemporary: false }

it('a host of a document that resolves inside is refused, whatever its first answer was', async () => {
  const server = await RecordingServer.start()
  const { port } = new URL(server.url)
  resolveTo(['93.184.216.34', '127.0.0.1'], ['127.0.0.1'])
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(send(`http://api.example.com:${port}/`, { isConfigured: false })).rejects.toMatchObject({
      ...refused,
      message: 'host api.example.com is refused: 127.0.0.1 is not a public address (loopback)',
    })
  expect(server.requests).toEqual([])
})

it('the connection goes to the address that was judged, and not to a later answer', async () => {
  const server = await RecordingServer.start()
  const { port } = new URL(server.url)
  const lookup = resolveTo(['127.0.0.1'], ['127.0.0.2'])
  expect(await send(`http://localhost:${port}/`)).toMatchObject({ status: 200 })
  expect(lookup).toHaveBeenCalledOnce()
})

it.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://0.0.0.0/',
  'http://169.254.169.254/latest/meta-data',
])('an address in a document is refused in every spelling: %s', async (url) => {
  await expect(send(url, { isConfigured: false })).rejects.toMatchObject(refused)
})

it('a configured name must not lead to a metadata service', async () => {
  resolveTo(['169.254.169.254'])
  await expect(send('http://metadata.internal/')).rejects.toMatchObject(refused)
})

it('a connection that was open for a configured host is not taken for the host of a document', async () => {
  const server = await RecordingServer.start()
  expect(await send(server.url)).toMatchObject({ status: 200 })
  await expect(send(server.url, { isConfigured: false })).rejects.toMatchObject(refused)
  expect(server.requests).toHaveLength(1)
})

it('a server that can not be reached got nothing, and may be there later', async () => {
  await expect(send('http://127.0.0.1:1/')).rejects.toMatchObject({ name: 'NotSentError', isTemporary: true })
})

it('a body is cut at its bound while it streams without end', async () => {
  const server = await RecordingServer.start((_, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  })
  expect(await send(server.url)).toMatchObject({ isCut: true, body: Buffer.from('x'.repeat(1_000)) })
})

it('a compressed body is bounded by what it becomes', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const server = await RecordingServer.start(
    (_, response) => void response.setHeader('content-encoding', 'gzip').end(bomb),
  )
  const { body, isCut } = await send(server.url)
  expect({ bytes: body.length, isCut }).toEqual({ bytes: 1_000, isCut: true })
})

it.each([
  ['gzip', gzipSync('{"a":"ü😀"}'), '{"a":"ü😀"}'],
  ['gzip', Buffer.alloc(0), ''],
  ['identity', Buffer.from('plain'), 'plain'],
])('reads a body with content encoding %s', async (encoding, sent, text) => {
  const server = await RecordingServer.start(
    (_, response) => void response.setHeader('content-encoding', encoding).end(sent),
  )
  expect((await send(server.url)).body.toString()).toBe(text)
})

it('reads text whose characters arrive byte by byte', async () => {
  const bytes = [...Buffer.from('"ü😀"')]
  const server = await RecordingServer.start((_, response) => {
    const next = (): void => {
      const byte = bytes.shift()
      if (byte === undefined) response.end()
      else response.write(Buffer.of(byte), next)
    }
    next()
  })
  expect(Buffer.from((await send(server.url)).body).toString()).toBe('"ü😀"')
})

it('a request that is aborted ends at once, with the reason, and its connection', async () => {
  const closed = vi.fn()
  const server = await RecordingServer.start((_, response) => void response.on('close', closed))
  const controller = new AbortController()
  const sent = send(server.url, { signal: controller.signal })
  await vi.waitFor(() => expect(server.requests).toHaveLength(1))
  controller.abort(new Error('cancelled'))
  await expect(sent).rejects.toThrow('cancelled')
  await vi.waitFor(() => expect(closed).toHaveBeenCalled())
})

it('a request whose connection ends after it was sent is not sent again', async () => {
  const server = await RecordingServer.start((_, response) => void response.destroy())
  await expect(send(server.url, { method: 'POST', isRepeatable: false })).rejects.not.toMatchObject({
    name: 'NotSentError',
  })
  expect(server.requests).toHaveLength(1)
})
