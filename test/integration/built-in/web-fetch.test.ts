import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageInfo } from '../../../src/platform/package-info.js'
import { fetcherFor, resolverOf } from '../../support/web/page-fetcher.js'
import { body, makePdf, redirect, startWebServer } from '../../support/web/web-server.js'

describe('the content of a page', () => {
  it.each([
    ['HTML', body('<title>T</title><p>a <b>b</b>', 'text/html'), { contentType: 'text/html', title: 'T', text: 'a b' }],
    ['plain text', body(' <p>a\n ', 'text/plain'), { contentType: 'text/plain', text: ' <p>a\n ' }],
    ['JSON', body('{"a": 1}', 'application/json'), { contentType: 'application/json', text: '{"a": 1}' }],
    ['HTML without a type', body('<!doctype html><p>a', ''), { contentType: 'text/html', text: 'a' }],
    ['an empty page', body('', 'image/png'), undefined],
    ['an empty text', body('', 'text/html'), { contentType: 'text/html', text: '' }],
    ['Latin-1', body(Buffer.from('caf\xe9', 'latin1'), 'text/plain; charset=latin1'), { text: 'café' }],
    ['an unknown charset', body('café', 'text/plain; charset=nonsense'), { text: 'café' }],
    ['bytes of no charset', body(Buffer.from([0xff, 0x41]), 'text/plain; charset=utf-8'), { text: '\uFFFDA' }],
    [
      'gzip',
      body(gzipSync('abc'), 'text/plain', { 'Content-Encoding': 'gzip' }),
      { contentType: 'text/plain', text: 'abc' },
    ],
    ['Brotli', body(brotliCompressSync('abc'), 'text/plain', { 'Content-Encoding': 'br' }), { text: 'abc' }],
    [
      'PDF',
      body(makePdf(Buffer.from('BT /F1 12 Tf 10 100 Td (Hello) Tj 0 -20 Td (PDF) Tj ET')), 'application/pdf'),
      { contentType: 'application/pdf', text: expect.stringMatching(/^Hello\s+PDF$/) },
    ],
  ])('%s is read as text', async (_what, answer, expected) => {
    const server = await startWebServer({ '/page': answer })
    const fetching = fetcherFor(server)(server.url('/page'))
    if (expected === undefined) await expect(fetching).rejects.toThrow('image/png')
    else expect(await fetching).toEqual(expect.objectContaining({ url: server.url('/page'), status: 200, ...expected }))
  })

  it.each([
    ['an image', body('x'.repeat(70), 'image/png', { 'Content-Length': '70' }), 'is image/png (70 bytes): only text'],
    ['bytes without a type', body('\0\x01', ''), 'is application/octet-stream (2 bytes)'],
    ['an encoding nobody asked for', body('x', 'text/plain', { 'Content-Encoding': 'zstd' }), 'the encoding "zstd"'],
    ['two encodings', body('x', 'text/plain', { 'Content-Encoding': 'gzip, gzip' }), 'the encoding "gzip, gzip"'],
    ['a broken PDF', body('%PDF-1.7 nothing', 'application/pdf'), "the PDF of the page can't be read: "],
  ])('%s is refused', async (_what, answer, message) => {
    const server = await startWebServer({ '/page': answer })
    await expect(fetcherFor(server)(server.url('/page'))).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringContaining(message),
    })
  })

  it.each([
    [404, 'text/html', 'gone'],
    [500, 'text/plain', 'gone'],
    [429, 'application/json', 'gone'],
    [403, 'image/png', ''],
  ])('status %d of %s is a result, with what the page says', async (status, type, text) => {
    const server = await startWebServer({
      '/page': (response) => void response.writeHead(status, { 'Content-Type': type }).end('gone'),
    })
    expect(await fetcherFor(server)(server.url('/page'))).toMatchObject({ status, text })
  })

  it('a failure of the connection is no refusal, so that the call is repeated', async () => {
    const server = await startWebServer({ '/page': (response) => void response.destroy() })
    await expect(fetcherFor(server)(server.url('/page'))).rejects.toMatchObject({ name: 'Error', code: 'ECONNRESET' })
  })
})

it('a request names the project, its version and nothing about the run', async () => {
  const server = await startWebServer({ '/page': body('a', 'text/plain') })
  await fetcherFor(server)(server.url('/page?q=1#fragment'))
  const { headers, url, method } = server.requests[0] ?? {}
  expect({ url, method }).toEqual({ url: '/page?q=1', method: 'GET' })
  expect(headers).toEqual({
    accept: expect.stringContaining('text/html'),
    'accept-encoding': 'gzip, deflate, br',
    connection: 'close',
    host: `127.0.0.1:${server.port}`,
    'user-agent': `durable-ptc/${packageInfo().version}`,
  })
})

describe('redirects', () => {
  it('are followed up to five, relative ones, too', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 6 }, (_, n) => [`/${n}`, redirect(`/${n + 1}`, 301 + (n % 3))]),
    )
    const server = await startWebServer({ ...chain, '/6': body('end', 'text/plain') })
    expect(await fetcherFor(server)(server.url('/1'))).toMatchObject({ url: server.url('/6'), text: 'end' })
    await expect(fetcherFor(server)(server.url('/0'))).rejects.toThrow('redirected more than 5 times')
  })

  it('in a circle end', async () => {
    const server = await startWebServer({ '/a': redirect('/b', 307), '/b': redirect('/a', 308) })
    await expect(fetcherFor(server)(server.url('/a'))).rejects.toThrow('redirected more than 5 times')
    expect(server.requested).toHaveLength(6)
  })

  it('without a target are a result', async () => {
    const server = await startWebServer({ '/a': (response) => void response.writeHead(304).end() })
    expect(await fetcherFor(server)(server.url('/a'))).toMatchObject({ status: 304, text: '' })
  })
})

describe('the cache of a run', () => {
  it('has a page that this run has fetched, and not those of other runs', async () => {
    const server = await startWebServer({ '/page': body('a', 'text/plain') })
    const fetch = fetcherFor(server)
    const url = server.url('/page')
    const pages = await Promise.all([fetch(url, 'run 1'), fetch(`${url}#part`, 'run 1'), fetch(url, 'run 1')])
    expect(new Set(pages).size).toBe(1)
    expect(server.requested).toEqual(['/page'])
    await fetch(url, 'run 2')
    expect(server.requested).toEqual(['/page', '/page'])
  })

  it('has no page of a server that had a passing problem, and no failure', async () => {
    let status = 503
    const server = await startWebServer({
      '/page': (response) => void response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`is ${status}`),
    })
    const fetch = fetcherFor(server)
    for (const next of [503, 429, 404, 200]) {
      status = next
      expect(await fetch(server.url('/page'))).toMatchObject({ status: next === 200 ? 404 : next })
    }
  })

  it('lets a second call go on when the first one is cancelled', async () => {
    const released: (() => void)[] = []
    const server = await startWebServer({
      '/page': (response) =>
        void released.push(() => void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a')),
    })
    const fetch = fetcherFor(server)
    const controller = new AbortController()
    const first = fetch(server.url('/page'), 'run', controller.signal)
    const second = fetch(server.url('/page'), 'run')
    await expect.poll(() => released.length).toBe(1)
    controller.abort(new Error('cancelled'))
    await expect(first).rejects.toThrow('cancelled')
    await expect.poll(() => released.length).toBe(2)
    released[1]?.()
    expect(await second).toMatchObject({ text: 'a' })
  })
})

describe('robots.txt', () => {
  const rules = body('User-agent: durable-ptc\nDisallow: /private\n', 'text/plain')

  it('is read once for a server, and excludes pages, also after a redirect', async () => {
    const server = await startWebServer({
      '/robots.txt': rules,
      '/open': body('a', 'text/plain'),
      '/moved': redirect('/private/a'),
      '/private/a': body('secret', 'text/plain'),
    })
    const fetch = fetcherFor(server, { robots: true })
    expect(await fetch(server.url('/open'))).toMatchObject({ text: 'a' })
    await expect(fetch(server.url('/private/a'))).rejects.toThrow('is excluded by robots.txt of its server')
    await expect(fetch(server.url('/moved'))).rejects.toThrow('is excluded by robots.txt of its server')
    expect(server.requested).toEqual(['/robots.txt', '/open', '/moved'])
  })

  it('is not read without the option', async () => {
    const server = await startWebServer({ '/robots.txt': rules, '/private': body('a', 'text/plain') })
    expect(await fetcherFor(server)(server.url('/private'))).toMatchObject({ text: 'a' })
    expect(server.requested).toEqual(['/private'])
  })

  it('that does not exist allows everything, and a server that fails nothing', async () => {
    const without = await startWebServer({ '/page': body('a', 'text/plain') })
    expect(await fetcherFor(without, { robots: true })(without.url('/page'))).toMatchObject({ text: 'a' })
    const failing = await startWebServer({
      '/robots.txt': (response) => void response.writeHead(500).end(),
      '/page': body('a', 'text/plain'),
    })
    await expect(fetcherFor(failing, { robots: true })(failing.url('/page'))).rejects.toThrow('is not available')
    expect(failing.requested).toEqual(['/robots.txt'])
  })

  it('of a private server is not read', async () => {
    const server = await startWebServer({ '/robots.txt': rules })
    const fetch = fetcherFor(server, { robots: true, privateAddresses: [] })
    await expect(fetch(server.url('/page'))).rejects.toThrow('is not public (loopback)')
    expect(server.requested).toEqual([])
  })
})

describe('limits', () => {
  it.each([
    ['with its length', { 'Content-Length': '50000000' }],
    ['without its length', { 'Transfer-Encoding': 'chunked' }],
  ])('a page of 50 MB, %s, ends at the limit', async (_what, headers) => {
    let sent = 0
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const server = await startWebServer({
      '/page': (response) => {
        response.writeHead(200, { 'Content-Type': 'text/plain', ...headers })
        const write = () => {
          while (sent < 50_000_000 && !response.destroyed) {
            sent += chunk.length
            if (!response.write(chunk)) return void response.once('drain', write)
          }
          response.end()
        }
        write()
      },
    })
    const fetching = fetcherFor(server, { maxBytes: 100_000 })(server.url('/page'))
    await expect(fetching).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringContaining('over 100000 bytes'),
    })
    // Buffers of two sockets hold a few megabytes.
    expect(sent).toBeLessThan(20_000_000)
  })

  it('a page of 1 GB in 1 MB of gzip ends at the limit', async () => {
    // Members of gzip may follow one another: each is 10 MB of zeros.
    const bomb = Buffer.concat(Array.from({ length: 100 }).fill(gzipSync(Buffer.alloc(10_000_000))) as Buffer[])
    expect(bomb.length).toBeLessThan(2_000_000)
    const server = await startWebServer({ '/page': body(bomb, 'text/plain', { 'Content-Encoding': 'gzip' }) })
    const before = process.memoryUsage().rss
    await expect(fetcherFor(server)(server.url('/page'))).rejects.toThrow('over 5242880 bytes')
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })

  it('a stream of a PDF that decompresses to over 64 MiB is refused', async () => {
    // Spaces are no instruction of a PDF.
    const bomb = makePdf(deflateSync(Buffer.alloc(70_000_000, ' ')), '/Filter/FlateDecode')
    expect(bomb.length).toBeLessThan(100_000)
    const server = await startWebServer({ '/page': body(bomb, 'application/pdf') })
    const fetching = fetcherFor(server, { timeout: '60s' })(server.url('/page'))
    await expect(fetching).rejects.toMatchObject({
      name: 'ToolError',
      message: "the PDF of the page can't be read: it needs over 67108864 bytes of memory",
    })
  })

  it('a page at the limit is read', async () => {
    const server = await startWebServer({
      '/page': body(gzipSync('x'.repeat(2_000)), 'text/plain', { 'Content-Encoding': 'gzip' }),
    })
    const page = await fetcherFor(server, { maxBytes: 2_000 })(server.url('/page'))
    expect(createHash('sha256').update(page.text).digest('hex')).toBe(
      createHash('sha256').update('x'.repeat(2_000)).digest('hex'),
    )
    await expect(fetcherFor(server, { maxBytes: 1_999 })(server.url('/page'))).rejects.toThrow('over 1999 bytes')
  })

  it.each([
    ['that never answers', undefined],
    ['that sends a byte of its header at a time', (send: (text: string) => void) => send('HTTP/1.1 200 OK\r\nX: ')],
    [
      'that sends a byte of its page at a time',
      (send: (text: string) => void) => send('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n'),
    ],
  ])('the time limit is that of the whole page, for a server %s', async (_what, begin) => {
    const { port } = await slowServer(begin)
    const fetching = fetcherFor({ port }, { timeout: '300ms' })(`http://127.0.0.1:${port}/`)
    await expect(fetching).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringContaining('was not fetched within 300 ms'),
    })
  })

  it('a header of 1 MB is refused', async () => {
    const { port } = await slowServer((send) => send(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`))
    await expect(fetcherFor({ port })(`http://127.0.0.1:${port}/`)).rejects.toThrow(/Header overflow/i)
  })

  it('a page whose text takes long to read ends at the time limit', async () => {
    const instructions = Buffer.from('BT /F1 12 Tf (abc) Tj ET '.repeat(2_500_000))
    const page = makePdf(deflateSync(instructions), '/Filter/FlateDecode')
    const server = await startWebServer({ '/page': body(page, 'application/pdf') })
    const fetching = fetcherFor(server, { timeout: '1s' })(server.url('/page'))
    await expect(fetching).rejects.toThrow('was not fetched within 1 s')
  })
})

it('the name of a URL is resolved once for each connection, and the connection goes to this answer', async () => {
  const server = await startWebServer({ '/page': body('a', 'text/plain') })
  const resolver = resolverOf({ 'pages.example': ['127.0.0.1'] })
  const fetch = fetcherFor(server, {}, resolver)
  expect(await fetch(`http://pages.example:${server.port}/page`)).toMatchObject({ text: 'a' })
  expect(resolver.asked).toEqual(['pages.example'])
  expect(server.requests[0]?.headers.host).toBe(`pages.example:${server.port}`)
})

/** Answers each connection by raw bytes, and then with a byte every few milliseconds until the connection ends. */
async function slowServer(begin?: (send: (text: string) => void) => void): Promise<AddressInfo> {
  const server = createServer((socket) => {
    const send = (text: string) => void (socket.writable && socket.write(text))
    socket.on('error', () => undefined)
    socket.once('data', () => {
      if (begin === undefined) return
      begin(send)
      const timer = setInterval(() => send('x'), 5)
      socket.on('close', () => clearInterval(timer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return server.address() as AddressInfo
}
