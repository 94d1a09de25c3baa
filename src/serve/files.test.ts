import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FileUpload, PtcClient, StoredFile } from '../client/index.js'
import { PtcError } from '../common/errors.js'
import { startServer } from './index.js'

const digest = 'a'.repeat(64)
const file = (path: string, mediaType: string, bytes: number): StoredFile => ({
  path,
  mediaType,
  bytes,
  sha256: digest,
  parts: [],
})
const page = file('/tmp/out/größe "1".html', 'text/html', 5)
const table = file('/tmp/in/data/table.csv', 'text/csv', 3)

let uploaded: { readonly path: string; readonly content: Buffer }[]
const files = {
  list: () => Promise.resolve([table, page]),
  async *read(_file: StoredFile): AsyncGenerator<Uint8Array> {
    yield Buffer.from('<b>')
    yield Buffer.from('hi')
  },
  async upload([upload]: readonly FileUpload[]) {
    if (!upload || !('content' in upload)) throw new Error('the server uploads streams')
    const content = await buffer(upload.content)
    uploaded.push({ path: upload.path, content })
    return [file(`/tmp/in/${upload.path}`, 'text/plain', content.length)]
  },
}

async function start(changed: Partial<typeof files> = {}): Promise<string> {
  const found = { ...files, ...changed }
  const ptc = {
    conversation: (name: string) => ({ name, workflowId: name, files: found }),
    handle: () => ({ describe: () => Promise.resolve({}), files: found }),
  }
  const server = await startServer({ ptc: ptc as unknown as PtcClient, port: 0 })
  onTestFinished(() => server.close())
  return server.url
}

beforeEach(() => void (uploaded = []))

describe('GET …/files', () => {
  it.each(['/runs/a%2Fb/files', '/conversations/a/files'])('lists files at %s', async (path) => {
    const response = await fetch((await start()) + path)
    expect(await response.json()).toEqual([
      { path: table.path, bytes: 3, mediaType: 'text/csv', sha256: digest },
      { path: page.path, bytes: 5, mediaType: 'text/html', sha256: digest },
    ])
  })
})

describe('GET …/files/PATH', () => {
  it('sends a file as a download that no browser shows as a page', async () => {
    const response = await fetch(`${await start()}/runs/r/files/${encodeURIComponent('größe "1".html')}`)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': '5',
      'content-disposition': `attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.html`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    expect(await response.text()).toBe('<b>hi')
  })

  it.each(['tmp/in/data/table.csv', 'data/table.csv'])('finds a file by the path %s', async (path) => {
    expect((await fetch(`${await start()}/runs/r/files/${path}`)).headers.get('content-type')).toBe('text/csv')
  })

  it('a media type that is not one becomes that of unknown bytes', async () => {
    const list = () => Promise.resolve([file('/tmp/in/a', 'text/html\r\nX-Bad: 1', 5)])
    const response = await fetch(`${await start({ list })}/runs/r/files/a`)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('x-bad')).toBeNull()
  })

  it('an unknown file is an error, and so is one whose bytes are gone', async () => {
    const unknown = await fetch(`${await start()}/runs/r/files/tmp/out/none`)
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } })
    // oxlint-disable-next-line require-yield
    async function* read(): AsyncGenerator<Uint8Array> {
      throw new PtcError('VALUE_MISSING', 'gone')
    }
    const gone = await fetch(`${await start({ read })}/runs/r/files/data/table.csv`)
    expect([gone.status, gone.headers.get('content-disposition')]).toEqual([500, null])
  })

  it('a file that fails in the middle is no whole response', async () => {
    async function* read(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<')
      throw new PtcError('VALUE_CORRUPT', 'changed')
    }
    const url = await start({ read })
    const reading = fetch(`${url}/runs/r/files/data/table.csv`).then((response) => response.text())
    await expect(reading).rejects.toThrow()
  })

  it('stops reading when the client leaves', async () => {
    const ended = vi.fn()
    async function* read(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(1 << 20)
      } finally {
        ended()
      }
    }
    const list = () => Promise.resolve([file('/tmp/in/a', 'text/plain', 1 << 30)])
    const left = new AbortController()
    const response = await fetch(`${await start({ list, read })}/runs/r/files/a`, { signal: left.signal })
    await response.body?.getReader().read()
    left.abort()
    await vi.waitUntil(() => ended.mock.calls.length === 1)
  })
})

describe('PUT …/files/PATH', () => {
  it('stores the body as it is sent', async () => {
    const body = Buffer.alloc(3_000_000, 'x')
    const response = await fetch(`${await start()}/conversations/c/files/sub/a%20b.txt`, { method: 'PUT', body })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({
      path: '/tmp/in/sub/a b.txt',
      bytes: body.length,
      mediaType: 'text/plain',
      sha256: digest,
    })
    expect(uploaded.map(({ path, content }) => [path, content.equals(body)])).toEqual([['sub/a b.txt', true]])
  })

  it('refuses more than a file may have before it reads the body, and a compressed body', async () => {
    const url = await start()
    const { host, hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.write(`PUT /runs/r/files/a HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${2 ** 31}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
    const compressed = { method: 'PUT', body: 'x', headers: { 'content-encoding': 'gzip' } }
    expect((await fetch(`${url}/runs/r/files/a`, compressed)).status).toBe(400)
    expect(uploaded).toEqual([])
  })

  it('an upload that is cut off is none', async () => {
    const failed = vi.fn()
    const upload: typeof files.upload = (uploads) =>
      files.upload(uploads).catch((thrown: unknown) => {
        failed()
        throw thrown
      })
    const { host, hostname, port } = new URL(await start({ upload }))
    const socket = connect(Number(port), hostname)
    socket.write(`PUT /runs/r/files/a HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\nhalf`)
    await once(socket, 'connect')
    socket.end()
    await vi.waitUntil(() => failed.mock.calls.length === 1)
    expect(uploaded).toEqual([])
  })

  it('refuses requests of other web pages', async () => {
    const options = { method: 'PUT', body: 'x', headers: { origin: 'https://evil.example' } }
    expect((await fetch(`${await start()}/runs/r/files/a`, options)).status).toBe(403)
  })
})
