import { gzipSync } from 'node:zlib'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { PtcClient } from '../client/index.js'
import type { StreamEvent } from '../stream/index.js'
import { monitorEventLoopDelay } from '../../test/support/faults/event-loop-delay.js'
import { hostileBodies } from '../../test/support/faults/hostile-bodies.js'
import { deferred } from '../common/async/deferred.js'
import { PtcError } from '../common/errors.js'
import { type ServeOptions, startServer } from './index.js'

/** A client with only the functions that a test needs. */
function clientWith(conversation: object, handle: object = {}): PtcClient {
  return {
    taskQueue: 'q',
    conversation: (name: string) => ({ name, workflowId: `conversation:q:${name}`, ...conversation }),
    handle: () => ({ describe: () => Promise.resolve({}), ...handle }),
  } as unknown as PtcClient
}

async function start(ptc: PtcClient, options: Partial<ServeOptions> = {}) {
  const server = await startServer({ ptc, port: 0, ...options })
  onTestFinished(() => server.close())
  return server
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })

/** Sends headers that fetch does not allow or replaces. */
async function getAs(url: string, headers: Record<string, string>, method = 'GET'): Promise<IncomingMessage> {
  const sent = request(url, { headers, method })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response
}

describe('access', () => {
  const ptc = clientWith({ status: () => Promise.resolve({ state: 'waiting' }) })

  it('a server without a token answers only for names of this machine, and listens only on it', async () => {
    await expect(startServer({ ptc, port: 0, host: '0.0.0.0' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const { url } = await start(ptc)
    const { port } = new URL(url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect((await getAs(`${url}/conversations/a`, { host })).statusCode).toBe(200)
    for (const host of [`evil.example:${port}`, 'localhost.evil.example', '0.0.0.0', 'a b'])
      expect((await getAs(`${url}/conversations/a`, { host })).statusCode).toBe(403)
  })

  it('a server with a token refuses requests without it, and shows the page to everyone', async () => {
    const { url } = await start(ptc, { token: 'secret', host: '0.0.0.0' })
    const path = `${url}/conversations/a`
    const missing = await fetch(path)
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await missing.json()).toMatchObject({ error: { code: 'UNAUTHORIZED' } })
    expect((await fetch(path, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
    expect((await fetch(path, { headers: { authorization: 'Bearer secret' } })).status).toBe(200)
    const headers = { host: 'chat.example.com', authorization: 'Bearer secret' }
    expect((await getAs(path, headers)).statusCode).toBe(200)
    expect((await fetch(url)).status).toBe(200)
  })

  it('the server refuses pages of other origins before any effect, and answers those of allowed origins', async () => {
    const send = vi.fn(() => Promise.resolve({ id: '1' }))
    const { url } = await start(clientWith({ send }), { origins: ['https://app.example.com'] })
    const path = `${url}/conversations/a/messages`
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null'])
      expect((await post(path, { text: 'x' }, { origin })).status).toBe(403)
    expect((await getAs(`${url}/approvals`, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    expect(send).not.toHaveBeenCalled()
    expect((await post(path, { text: 'x' }, { origin: url })).status).toBe(202)
    const allowed = await post(path, { text: 'x' }, { origin: 'https://app.example.com' })
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
      202,
      'https://app.example.com',
    ])
    const preflight = await fetch(path, { method: 'OPTIONS', headers: { origin: 'https://app.example.com' } })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('Authorization'),
    ])
  })

  it('the server refuses requests that browsers send for pages of other sites, and two Host headers', async () => {
    const { url } = await start(ptc)
    const statusOf = async (method: string, headers: Record<string, string>) =>
      (await getAs(`${url}/conversations/a`, headers, method)).statusCode
    expect(await statusOf('GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200)
    expect(await statusOf('GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403)
    for (const site of ['same-site', 'cross-site'])
      for (const mode of ['navigate', 'cors'])
        expect(await statusOf('POST', { 'sec-fetch-site': site, 'sec-fetch-mode': mode })).toBe(403)
    expect(await statusOf('POST', { 'sec-fetch-site': 'same-origin' })).toBe(405)

    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.end('GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /)
  })

  it('serves the page with a policy that allows no other origin and no inline script', async () => {
    const { url } = await start(ptc)
    const page = await fetch(url)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    const paths = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
    expect(paths).toHaveLength(2)
    for (const path of [...paths, '/page/chat.js', '/page/files.js', '/page/approvals.js', '/page/requests.js'])
      expect((await fetch(`${url}${path}`)).status).toBe(200)
    for (const path of ['/page/index.ts', '/page/../server.ts', '/toString', '/page/page.html'])
      expect((await fetch(`${url}${path}`)).status).toBe(404)
  })
})

describe('requests', () => {
  it.each([
    ['{', 'RUN_INPUT_INVALID', 400],
    ['[]', 'RUN_INPUT_INVALID', 400],
    ['', 'RUN_INPUT_INVALID', 400],
    [{ text: 1 }, 'RUN_INPUT_INVALID', 400],
    [{ text: 'x', steer: 'yes' }, 'RUN_INPUT_INVALID', 400],
    [{ text: 'x', other: 1 }, 'RUN_INPUT_INVALID', 400],
    [{ text: 'x'.repeat(31_000_000) }, 'BODY_TOO_LARGE', 413],
    [{ text: 'x', attachments: [{ file: '/etc/passwd' }] }, 'RUN_INPUT_INVALID', 400],
    [{ text: 'x', files: [{ file: '/etc/passwd' }] }, 'RUN_INPUT_INVALID', 400],
    [{ text: 'x', files: [{ path: 'a', data: 'no base64!' }] }, 'RUN_INPUT_INVALID', 400],
  ])('the server rejects an invalid body', async (body, code, status) => {
    const send = vi.fn()
    const { url } = await start(clientWith({ send }))
    const response = await post(`${url}/conversations/a/messages`, body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code, message: expect.any(String) as string } })
    expect(send).not.toHaveBeenCalled()
  })

  it.each([
    ['compressed', gzipSync('{"text":"x"}'), { 'content-encoding': 'gzip' }, /Content-Encoding "gzip" is not accepted/],
    ['in UTF-16', Buffer.from('{"text":"x"}', 'utf16le'), {}, /^the body is UTF-16, not UTF-8$/],
    ['in Latin-1', Buffer.from('{"text":"é"}', 'latin1'), {}, /^the body is not UTF-8/],
  ])('reports the problem of a body that is %s', async (_what, body, headers, message) => {
    const { url } = await start(clientWith({ send: vi.fn() }))
    const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    const response = await fetch(`${url}/conversations/a/messages`, options)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 'RUN_INPUT_INVALID', message: expect.stringMatching(message) as string },
    })
  })

  it('sends errors with their code, and reports the message of those that are not for users', async () => {
    const thrown: unknown[] = []
    const failures = [
      new PtcError('CONVERSATION_FULL', 'too many', { hint: 'Wait.' }),
      new PtcError('CONVERSATION_NOT_FOUND', 'none'),
      new PtcError('RUN_INPUT_INVALID', 'x'.repeat(100_000)),
      new PtcError('INTERNAL', 'odd'),
      new Error('/home/secret'),
    ]
    const status = () => Promise.reject(failures.shift())
    const { url } = await start(clientWith({ status }), { onError: (each) => thrown.push(each) })
    const replies = []
    while (failures.length > 0) {
      const response = await fetch(`${url}/conversations/a`)
      replies.push([response.status, ((await response.json()) as { error: object }).error])
    }
    expect(replies).toEqual([
      [429, { code: 'CONVERSATION_FULL', message: 'too many', hint: 'Wait.' }],
      [404, { code: 'CONVERSATION_NOT_FOUND', message: 'none' }],
      [400, { code: 'RUN_INPUT_INVALID', message: `${'x'.repeat(2_000)}…` }],
      [500, { code: 'INTERNAL', message: expect.stringContaining('ptc show') }],
      [500, { code: 'INTERNAL', message: 'the request failed; see the log of the server' }],
    ])
    expect(thrown).toMatchObject([{ message: 'odd' }, { message: '/home/secret' }])
  })

  it('answers when no worker takes a message', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const sending = vi.fn(() => new Promise(() => undefined))
    const { url } = await start(clientWith({ send: sending }))
    const response = post(`${url}/conversations/a/messages`, { text: 'x' })
    await vi.waitUntil(() => sending.mock.calls.length === 1)
    await vi.advanceTimersByTimeAsync(31_000)
    expect((await response).status).toBe(503)
  })

  it('keeps its connections usable after a body that is too large, and after a failed request', async () => {
    const { url } = await start(clientWith({ status: () => Promise.resolve({ state: 'waiting' }) }))
    for (const path of ['/conversations/a/messages', '/v1/messages', '/nothing']) {
      const response = await post(`${url}${path}`, { text: 'x'.repeat(36_000_000) })
      expect(response.status).toBe(path === '/nothing' ? 404 : 413)
      await response.text()
      expect((await fetch(`${url}/conversations/a`)).status).toBe(200)
    }
  })

  it('rejects unknown paths and methods', async () => {
    const stream = vi.fn()
    const { url } = await start(clientWith({}, { stream }))
    expect((await fetch(`${url}/conversations/a/stream`, { method: 'HEAD' })).status).toBe(405)
    expect(stream).not.toHaveBeenCalled()
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    expect((await fetch(`${url}/conversations/a`, { method: 'DELETE' })).status).toBe(405)
    expect((await post(`${url}/conversations`, {})).status).toBe(405)
  })
})

describe('a stream', () => {
  const event = (n: number): StreamEvent => ({ type: 'gap', offset: `e:${n}.0`, time: n })

  it('a stream sends events with their offsets, and continues after Last-Event-ID, or after `from`', async () => {
    const stream = vi.fn(async function* (_options: object) {
      yield event(1)
      yield event(2)
    })
    const { url } = await start(clientWith({}, { stream }))
    const response = await fetch(`${url}/conversations/a/stream?from=e:7.0`)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toBe(
      [1, 2].map((n) => `id: e:${n}.0\ndata: ${JSON.stringify(event(n))}\n\n`).join(''),
    )
    await (await fetch(`${url}/conversations/a/stream?from=e:7.0`, { headers: { 'last-event-id': 'e:8.1' } })).text()
    expect(stream.mock.calls.map(([options]) => options)).toMatchObject([{ from: 'e:7.0' }, { from: 'e:8.1' }])
    expect((await fetch(`${url}/conversations/a/stream?from=x`)).status).toBe(400)
  })

  it('a stream reports that it failed', async () => {
    async function* stream() {
      yield event(1)
      throw new PtcError('TEMPORAL_UNREACHABLE', 'gone')
    }
    const { url } = await start(clientWith({}, { stream }))
    const body = await (await fetch(`${url}/conversations/a/stream`)).text()
    expect(body).toContain('data: {"type":"error","error":{"code":"TEMPORAL_UNREACHABLE","message":"the agent can')
  })

  it('a stream has no message for the operators of the agent', async () => {
    const error = { code: 'MODEL_AUTH', message: 'check that ANTHROPIC_API_KEY is set' }
    async function* stream() {
      yield { ...event(1), type: 'turn.failed', ...error }
      yield { ...event(1), type: 'compaction.completed', problem: error.message }
      yield { ...event(2), type: 'end', status: 'failed', error }
    }
    const { url } = await start(clientWith({}, { stream }))
    const body = await (await fetch(`${url}/conversations/a/stream`)).text()
    expect(body.match(/"code":"MODEL_AUTH","message":"the agent can't work now/g)).toHaveLength(2)
    expect(body).not.toContain('ANTHROPIC_API_KEY')
  })

  /** A stream that ends when its signal is aborted. */
  function hanging() {
    const ended = vi.fn()
    async function* stream({ signal }: { readonly signal: AbortSignal }) {
      try {
        yield event(1)
        await once(signal, 'abort')
        signal.throwIfAborted()
      } finally {
        ended()
      }
    }
    return { ended, ptc: clientWith({}, { stream }) }
  }

  it('a stream ends when its client leaves', async () => {
    const { ended, ptc } = hanging()
    const { url } = await start(ptc)
    const left = new AbortController()
    const response = await fetch(`${url}/conversations/a/stream`, { signal: left.signal })
    await response.body?.getReader().read()
    expect(ended).not.toHaveBeenCalled()
    left.abort()
    await vi.waitUntil(() => ended.mock.calls.length === 1)
  })

  it('a stream ends when the server closes, even when it closes twice', async () => {
    const { ended, ptc } = hanging()
    const server = await start(ptc)
    const response = await fetch(`${server.url}/conversations/a/stream`)
    const body = text(response.body as never)
    await Promise.all([server.close(), server.close()])
    expect(await body).toContain('e:1.0')
    expect(ended).toHaveBeenCalledOnce()
    await expect(fetch(server.url)).rejects.toThrow()
  })
})

describe('bodies', () => {
  const ptc = clientWith({ send: () => Promise.resolve({ id: 'm' }), reset: () => Promise.resolve() })

  it.each(hostileBodies)(
    'refuses bodies of hostile clients without blocking other requests: $name',
    async (hostile) => {
      const { url } = await start(ptc)
      const body = hostile.body()
      const delay = monitorEventLoopDelay()
      const response = await post(url + hostile.path, body)
      const { maxDelayMs } = delay.stop()
      const answer = await response.text()
      expect(response.status).toBe(400)
      expect(answer.length).toBeLessThan(3_000)
      expect(answer).not.toContain('INTERNAL')
      expect(maxDelayMs).toBeLessThan(1_000)
    },
  )
})

it('reads the histories of runs once for concurrent requests', async () => {
  const result = deferred<readonly unknown[]>()
  const waits = vi.fn(() => result.promise)
  const { url } = await start({ ...clientWith({}), taskQueue: 'q', waits } as unknown as PtcClient)
  const requests = [fetch(`${url}/approvals`), fetch(`${url}/approvals`)]
  await vi.waitFor(() => expect(waits).toHaveBeenCalledOnce())
  const run = { workflowId: 'conversation:q:a' }
  const call = { tool: 'ask', summary: 's', arguments: {}, token: 't' }
  const wait = { type: 'answer', ...call, position: { turn: 1, cell: 1, index: 2 }, since: 0, expiresAt: 1_000 }
  result.resolve([
    { run, wait },
    { run, wait: { type: 'budget', item: 'turns', since: 0 } },
  ])
  const times = { since: '1970-01-01T00:00:00.000Z', expiresAt: '1970-01-01T00:00:01.000Z' }
  const listed = { run: run.workflowId, conversation: 'a', call: 'turn-1.cell-1.call-2', waitsFor: 'result' }
  for (const response of await Promise.all(requests))
    expect(await response.json()).toEqual([{ ...listed, ...call, ...times }])
  expect(waits).toHaveBeenCalledOnce()
  await fetch(`${url}/approvals`)
  expect(waits).toHaveBeenCalledTimes(2)
})
