import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createCertificate } from '../../../test/support/network/certificates.js'
import {
  connectBy,
  exchangeBytes,
  fetchBy,
  listen,
  startProxy,
  startTlsServer,
} from '../../../test/support/network/proxy.js'
import { resolverOf } from '../../../test/support/web/page-fetcher.js'
import { Deferred } from '../../../test/support/tools.js'
import { body, redirect, startWebServer } from '../../../test/support/web/web-server.js'
import type { NetworkTarget } from '../../common/run/network.js'

/** The server of a test has a private address, which has an entry of its own. */
const allowing = (port: number, ...targets: readonly Omit<NetworkTarget, 'port'>[]): readonly NetworkTarget[] =>
  [...targets, { host: '127.0.0.1' }].map((target) => ({ ...target, port }))

const { resolve } = resolverOf({
  'api.test': ['127.0.0.1'],
  'other.test': ['127.0.0.1'],
  'sub.api.test': ['127.0.0.1'],
})

it('a plain request passes with its body and headers, and without those of its connection', async () => {
  const server = await startWebServer({
    '/echo': (response, request) => {
      response.writeHead(
        201,
        'Made',
        [
          ['X-Own', 'a'],
          ['X-Own', 'b'],
          ['Connection', 'X-Gone'],
          ['X-Gone', '1'],
        ].flat(),
      )
      request.pipe(response)
    },
  })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const headers = { 'x-mine': 'c', 'proxy-authorization': 'Basic x', connection: 'x-hop', 'x-hop': 'd' }
  const url = `http://api.test:${server.port}/echo?a=%2e%2e/b`
  const reply = await fetchBy(proxy.port, url, { method: 'POST', headers, body: 'hello' })
  expect(reply).toMatchObject({ status: 201, reason: 'Made', body: 'hello', headers: { 'x-own': 'a, b' } })
  expect(reply.headers).not.toHaveProperty('x-gone')
  const [received] = server.requests
  expect(received?.url).toBe('/echo?a=%2e%2e/b')
  expect(received?.headers).toMatchObject({ host: `api.test:${server.port}`, 'x-mine': 'c' })
  for (const name of ['proxy-authorization', 'x-hop']) expect(received?.headers).not.toHaveProperty(name)
  const requested = { host: 'api.test', port: server.port, method: 'POST' }
  expect(proxy.access.events).toMatchObject([
    { type: 'request.started', ...requested },
    { type: 'request.completed', ...requested, status: 201, bytesSent: 5, bytesReceived: 5 },
  ])
})

it('a body of chunks arrives as one, also of a method that has none usually', async () => {
  const server = await startWebServer({ '/': (response, request) => void request.pipe(response) })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const authority = `api.test:${server.port}`
  const inner = 'GET /smuggled HTTP/1.1\r\nHost: api.test\r\n\r\n'
  const chunks = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`
  const request = `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
  expect((await exchangeBytes(proxy.port, request, chunks)).toString()).toContain('GET /smuggled')
  expect(server.requested).toEqual(['/'])
})

it('a redirect goes back to the program, whose next request passes the checks again', async () => {
  const server = await startWebServer({ '/': redirect('http://169.254.169.254/latest/meta-data') })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const reply = await fetchBy(proxy.port, `http://api.test:${server.port}/`)
  expect(reply).toMatchObject({ status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data' } })
  expect(await fetchBy(proxy.port, 'http://169.254.169.254/latest/meta-data')).toMatchObject({ status: 403 })
})

it('a connection by CONNECT carries TLS in both directions, for the host that it names', async () => {
  const certificate = await createCertificate('api.test', 'other.test')
  const server = await startTlsServer(certificate)
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const socket = await connectBy(proxy.port, `API.test.:${server.port}`, { ca: certificate.ca, servername: 'api.test' })
  const sent = Buffer.alloc(300_000, 'abc')
  socket.end(sent)
  const received: Buffer[] = []
  for await (const chunk of socket) received.push(chunk as Buffer)
  expect(Buffer.concat(received).equals(sent)).toBe(true)
  expect(server.names).toEqual(['api.test'])
  await expect.poll(() => proxy.access.events.length).toBe(2)
  const requested = { host: 'api.test', port: server.port, method: 'CONNECT' }
  expect(proxy.access.events).toMatchObject([
    { type: 'request.started', ...requested },
    { type: 'request.completed', ...requested, status: 200 },
  ])
})

it.each([
  ['another name', 'other.test'],
  ['a name in front', 'api.test.other.test'],
  ['no name', undefined],
])('CONNECT to an allowed host with %s in TLS is refused, and nothing is opened', async (_, servername) => {
  const certificate = await createCertificate('api.test', 'other.test')
  const server = await startTlsServer(certificate)
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }, { host: 'other.test' }), { resolve })
  const connected = connectBy(proxy.port, `api.test:${server.port}`, { ca: certificate.ca, servername })
  await expect(connected).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' })
  expect(server.names).toEqual([])
  expect(proxy.access.events).toMatchObject([{ type: 'request.refused', rule: 'server_name' }])
})

it('CONNECT to an allowed host carries TLS or plain requests, and nothing else', async () => {
  const server = await startWebServer({ '/': body('inside') })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const authority = `api.test:${server.port}`
  const connect = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
  for (const other of [
    Buffer.from([0, 1, 2]),
    Buffer.from([22, 3, 1, 0, 1, 2]),
    Buffer.from('get / HTTP/1.1\r\n\r\n'),
  ]) {
    const answer = await exchangeBytes(proxy.port, Buffer.concat([Buffer.from(connect), other]))
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\n/)
    // An alert of TLS.
    expect(answer.subarray(answer.indexOf('\r\n\r\n') + 4)).toEqual(Buffer.from([21, 3, 1, 0, 2, 2, 112]))
  }
  expect(server.requested).toEqual([])
  expect(proxy.access.events).toMatchObject([{ rule: 'tls' }, { rule: 'tls' }, { rule: 'tls' }])
})

it('a plain request in a connection by CONNECT passes the checks of a plain request, each time', async () => {
  const server = await startWebServer({ '/': (response, { headers }) => void response.end(String(headers['x-key'])) })
  const headers = { 'X-Key': '${api_key}' }
  const options = { resolve, credentials: { api_key: 'secret-value' } }
  const proxy = await startProxy(allowing(server.port, { host: 'api.test', methods: ['GET'], headers }), options)
  const authority = `api.test:${server.port}`
  const connect = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`
  const get = (host: string, target = '/', method = 'GET') => `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const answer = await exchangeBytes(proxy.port, connect, get(authority), get(authority, '/', 'POST'))
  const text = answer.toString()
  expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '200', '403'])
  expect(text).toContain('secret-value')
  const refused = [
    get('other.test'),
    get(`other.test:${server.port}`),
    get(authority, `http://other.test:${server.port}/`),
    get(authority, '*', 'OPTIONS'),
    connect,
  ]
  for (const request of refused)
    expect((await exchangeBytes(proxy.port, connect, request)).toString(), request).toMatch(
      /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 400 /,
    )
  expect(server.requested).toEqual(['/'])
})

it('a target with `https` takes plain requests, and the proxy speaks TLS and adds the header', async () => {
  const certificate = await createCertificate('api.test')
  const received: string[] = []
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    received.push(`${request.headers.host} ${request.headers.authorization}`)
    response.end('secured')
  })
  const port = await listen(server)
  const headers = { Authorization: 'Bearer ${api_key}' }
  const options = { resolve, ca: certificate.ca, credentials: { api_key: 'secret-value' } }
  const proxy = await startProxy(allowing(port, { host: 'api.test', https: true, headers }), options)
  const reply = await fetchBy(proxy.port, `http://api.test:${port}/`, { headers: { authorization: 'forged' } })
  expect(reply).toMatchObject({ status: 200, body: 'secured' })
  expect(received).toEqual([`api.test:${port} Bearer secret-value`])
  expect(JSON.stringify(proxy.access.events)).not.toContain('secret-value')
  const tunnel = connectBy(proxy.port, `api.test:${port}`, { ca: certificate.ca, servername: 'api.test' })
  await expect(tunnel).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' })
  const standard = await startProxy([{ host: 'api.test', https: true }], options)
  const hint = /403 api\.test:443: use http:\/\/api\.test\/: the proxy sends the request on by https/
  await expect(connectBy(standard.port, 'api.test:443', { ca: certificate.ca })).rejects.toThrow(hint)
  // Another authority signs another certificate for the name.
  const other = await startProxy(allowing(port, { host: 'api.test', https: true }), {
    resolve,
    ca: (await createCertificate('api.test')).ca,
  })
  expect(await fetchBy(other.port, `http://api.test:${port}/`)).toMatchObject({ status: 502 })
  expect(received).toHaveLength(1)
})

it('a request that no credential can be read for is not sent', async () => {
  const server = await startWebServer({ '/': body('x') })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test', headers: { 'x-key': '${missing}' } }), {
    resolve,
  })
  proxy.proxy.use({ ...proxy.access, fillHeaders: () => Promise.reject(new Error('secret source')) })
  const reply = await fetchBy(proxy.port, `http://api.test:${server.port}/`)
  expect(reply).toMatchObject({ status: 503, reason: 'a credential of this host can not be read' })
  expect(reply.body).not.toContain('secret source')
  expect(server.requested).toEqual([])
})

it('a request whose start can not be stored is not sent', async () => {
  const server = await startWebServer({ '/': body('x') })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  proxy.proxy.use({ ...proxy.access, observe: () => Promise.reject(new Error('disk full')) })
  expect(await fetchBy(proxy.port, `http://api.test:${server.port}/`)).toMatchObject({ status: 503 })
  expect(server.requested).toEqual([])
})

it('requests over the rate are refused with 429', async () => {
  const server = await startWebServer({ '/': body('x') })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve, requestsPerMinute: 3 })
  const replies: number[] = []
  for (let count = 0; count < 5; count++)
    replies.push((await fetchBy(proxy.port, `http://api.test:${server.port}/`)).status)
  expect(replies).toEqual([200, 200, 200, 429, 429])
  expect(server.requested).toHaveLength(3)
})

it('a response and a connection end at the limit of their bytes', async () => {
  const certificate = await createCertificate('api.test')
  const tls = await startTlsServer(certificate)
  const server = await startWebServer({ '/': body('x'.repeat(200_000)) })
  const targets = [...allowing(server.port, { host: 'api.test' }), ...allowing(tls.port, { host: 'api.test' })]
  const proxy = await startProxy(targets, { resolve, bytesPerRequest: 100_000 })
  await expect(fetchBy(proxy.port, `http://api.test:${server.port}/`)).rejects.toThrow()
  const socket = await connectBy(proxy.port, `api.test:${tls.port}`, { ca: certificate.ca, servername: 'api.test' })
  socket.on('error', () => undefined).resume()
  socket.write(Buffer.alloc(200_000))
  await new Promise((resolve) => socket.once('close', resolve))
  await expect
    .poll(() => proxy.access.events.filter(({ type }) => type === 'request.failed'))
    .toMatchObject([{ reason: 'bytes' }, { reason: 'bytes' }])
})

it('a program that closes its connection ends that to the target', async () => {
  const closed = new Deferred()
  const server = await startWebServer({
    '/': (response) => {
      response.on('close', () => closed.resolve())
      response.write('begin')
    },
  })
  const proxy = await startProxy(allowing(server.port, { host: 'api.test' }), { resolve })
  const socket = connect(proxy.port, '127.0.0.1')
  const authority = `api.test:${server.port}`
  socket.write(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
  await closed.promise
  await expect.poll(() => proxy.access.events.at(-1)).toMatchObject({ type: 'request.failed', reason: 'connection' })
})

it('a target that can not be reached, and a name that does not exist, are 502', async () => {
  const proxy = await startProxy(allowing(1, { host: 'api.test' }, { host: 'nobody.test' }), { resolve })
  expect(await fetchBy(proxy.port, 'http://api.test:1/')).toMatchObject({
    status: 502,
    reason: "api.test can't be reached",
  })
  expect(await fetchBy(proxy.port, 'http://nobody.test:1/')).toMatchObject({
    status: 502,
    reason: 'there is no host nobody.test',
  })
  await expect
    .poll(() => proxy.access.events.map(({ type }) => type))
    .toEqual(['request.started', 'request.failed', 'request.refused'])
})

it.each([
  ['a request for the proxy itself', 'GET / HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['another scheme', 'GET ftp://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['https without CONNECT', 'GET https://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['a user name', 'GET http://user@api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['another header Host', 'GET http://api.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n', 400],
  ['another port in Host', 'GET http://api.test/ HTTP/1.1\r\nHost: api.test:8080\r\n\r\n', 400],
  ['two headers Host', 'GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nHost: other.test\r\n\r\n', 400],
  [
    'an unknown transfer encoding',
    'POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
    400,
  ],
  [
    'two lengths of the body',
    'POST http://api.test/ HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
  ],
  ['CONNECT without a port', 'CONNECT api.test HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['CONNECT with a path', 'CONNECT api.test:443/x HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['CONNECT with a user name', 'CONNECT user@api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n', 400],
  ['a head without an end', `GET http://api.test/ HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 400],
  ['no HTTP', 'SSH-2.0-OpenSSH_9\r\n\r\n', 400],
  ['TLS', Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0]), 400],
  ['TRACE', 'TRACE http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n', 403],
])('%s is refused', async (_, bytes, status) => {
  const proxy = await startProxy([{ host: 'api.test' }], { resolve })
  expect((await exchangeBytes(proxy.port, bytes)).toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(proxy.access.events.every(({ type }) => type === 'request.refused')).toBe(true)
})

it('curl follows the rules of a proxy', async () => {
  const certificate = await createCertificate('api.test')
  const tls = await startTlsServer(certificate)
  const server = await startWebServer({ '/': body('plain') })
  const proxy = await startProxy(
    [...allowing(server.port, { host: 'api.test' }), ...allowing(tls.port, { host: 'api.test' })],
    { resolve },
  )
  const curl = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('curl', ['-sS', '--proxy', proxy.url, ...args])
    return stdout
  }
  expect(await curl(`http://api.test:${server.port}/`)).toBe('plain')
  await expect(curl('https://other.test/')).rejects.toThrow('CONNECT tunnel failed, response 403')
})
