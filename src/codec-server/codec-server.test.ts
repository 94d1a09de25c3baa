import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { monitorEventLoopDelay } from '../../test/support/faults/event-loop-delay.js'
import { externalValue } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import { KeyRing } from '../values/encryption/key-ring.js'
import { EncryptionCodec } from '../values/encryption/payload-codec.js'
import { openStore } from '../values/open-store.js'
import { payloadStorage } from '../values/payload-storage.js'
import { Values } from '../values/values.js'
import { type CodecServer, type CodecServerOptions, startCodecServer } from './index.js'

const origin = 'http://localhost:8233'
let values: Values

beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-codec-'))
  values = new Values({ store: await openStore({ kind: 'local', directory }), retryForMs: 0, inlineBytes: 100 })
  onTestFinished(async () => {
    await values.close()
    await rm(directory, { recursive: true })
  })
})

async function start(options: Partial<CodecServerOptions> = {}): Promise<CodecServer> {
  const server = await startCodecServer({ values, port: 0, origins: [origin], ...options })
  onTestFinished(() => server.close())
  return server
}

const toJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
})

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)

function post(
  server: CodecServer,
  payloads: readonly Payload[],
  headers: Record<string, string> = {},
  path = '/decode',
) {
  const body = JSON.stringify({ payloads: payloads.map(toJson) })
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
}

async function decode(server: CodecServer, payload: Payload): Promise<unknown> {
  const response = await post(server, [payload], { origin })
  const { payloads } = (await response.json()) as { payloads: { data: string }[] }
  return JSON.parse(Buffer.from(payloads[0]?.data ?? '', 'base64').toString())
}

/** The reference in a history, as the SDK writes it. */
async function storedPayload(payload: Payload): Promise<Payload> {
  const [driver] = payloadStorage({ open: () => values.valueStore }).drivers
  const [claim] = (await driver?.store({}, [payload])) ?? []
  const reference = { driverName: driver?.name, claimData: claim?.claimData }
  return {
    metadata: {
      encoding: Buffer.from('json/external-storage-reference'),
      messageType: Buffer.from('temporal.api.sdk.v1.ExternalStorageReference'),
    },
    data: Buffer.from(JSON.stringify(reference)),
  }
}

/** A request whose JSON is within base64. */
function filledPayloads(count: number): string {
  const json = `[{"ptc.value":0}${',[]'.repeat(349_000)}]`
  const payload = { metadata: { encoding: base64('json/plain') }, data: base64(json) }
  return JSON.stringify({ payloads: Array.from({ length: count }, () => payload) })
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const members = (count: number, value: string): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join()

describe('a codec server', () => {
  const large = { rows: Array.from({ length: 100 }, (_, row) => ({ row })) }

  it('the codec server decodes a payload from the value store', async () => {
    expect(await decode(await start(), await storedPayload(payloadOf(large)))).toEqual(large)
  })

  it('the codec server decodes the values that JSON refers to, also inside a stored payload', async () => {
    const { signal } = new AbortController()
    const result = await values.externalize(large, signal)
    expect(JSON.stringify(result)).toContain('ptc.value')
    const server = await start()
    expect(await decode(server, payloadOf(result))).toEqual(large)
    const nested: JsonValue = { arguments: [result, 1] }
    expect(await decode(server, await storedPayload(payloadOf(nested)))).toEqual({ arguments: [large, 1] })
  })

  it('the codec server keeps the reference of a value that is too large, and shows its preview', async () => {
    const result = await values.externalize(large, new AbortController().signal)
    const server = await start({ maxBytes: 300 })
    expect(await decode(server, payloadOf(result))).toEqual(result)
    const stored = await decode(server, await storedPayload(payloadOf(large)))
    expect(stored).toMatchObject({ preview: expect.stringMatching(/^\{"rows":/), bytes: expect.any(Number) })
  })

  it('the codec server limits the bytes that planted references make it load', async () => {
    const ref = await values.store('x'.repeat(600), new AbortController().signal)
    const server = await start({ maxBytes: 1_000 })
    const planted = (bytes: number) => externalValue({ ...ref, bytes })

    expect(await decode(server, payloadOf([externalValue(ref)]))).toEqual(['x'.repeat(600)])
    for (const bytes of [-1e12, 10, 0.5, ref.bytes + 1]) {
      const value = { a: planted(bytes), b: planted(bytes) }
      expect(await decode(server, payloadOf(value)), String(bytes)).toEqual(value)
    }
    const many = Array.from({ length: 1_500 }, () => payloadOf([externalValue(ref)]))
    const response = await post(server, many, { origin })
    const { payloads } = (await response.json()) as { payloads: { data: string }[] }
    const expanded = payloads.filter(({ data }) => Buffer.from(data, 'base64').length > 600)
    expect(payloads).toHaveLength(1_500)
    expect(expanded).toHaveLength(1_000)
  })

  it.each([
    ['many payloads', `{"payloads":[${'{},'.repeat(2_000_000)}{}]}`],
    ['a deep payload', `{"payloads":[{"metadata":${'['.repeat(100)}${']'.repeat(100)}}]}`],
  ])('the codec server refuses a body of %s before it is parsed', async (_what, body) => {
    const { url } = await start()
    const response = await fetch(`${url}/decode`, { method: 'POST', headers: { origin }, body })
    expect(response.status).toBe(400)
    expect(await response.text()).toMatch(/^the body (has more than|is nested more than)/)
  })

  it('the codec server does not search payloads that are larger than a decoded payload may be', async () => {
    const ref = externalValue(await values.store(large, new AbortController().signal))
    const value = [ref, ...Array.from({ length: 1_000 }, () => [])]
    expect(await decode(await start({ maxBytes: 1_000 }), payloadOf(value))).toEqual(value)
    expect(await decode(await start(), payloadOf(value))).toEqual([large, ...value.slice(1)])
  })

  it('searches payloads of one request until their JSON together has too much structure', async () => {
    const ref = externalValue(await values.store(large, new AbortController().signal))
    const server = await start()
    const filled = [ref, ...Array.from({ length: 60_000 }, () => [])]
    const deep = [ref, JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as JsonValue]
    const sent = [filled, [ref], deep, filled, filled, [ref]]
    const response = await post(
      server,
      sent.map((value) => payloadOf(value)),
      { origin },
    )
    const { payloads } = (await response.json()) as { payloads: { data: string }[] }
    const [first] = payloads.map(({ data }) => Buffer.from(data, 'base64').toString())
    expect(first?.startsWith(JSON.stringify([large]).slice(0, -1))).toBe(true)
    const isSearched = payloads.map(({ data }) => !Buffer.from(data, 'base64').includes('"ptc.value"'))
    expect(isSearched).toEqual([true, true, false, true, false, true])
  })

  it.each([
    ['payloads that are searched', filledPayloads(5), 200],
    ['values that are not payloads', `{"payloads":[${'0,'.repeat(95_000)}0]}`, 400],
    ['payloads without a member', `{"payloads":[${'{},'.repeat(60_000)}{}]}`, 400],
    ['metadata that is not a text', `{"payloads":[{"metadata":{${members(30_000, '0')}}}]}`, 400],
    ['metadata', `{"payloads":[{"metadata":{${members(30_000, '""')}}}]}`, 200],
  ])('does not block other requests with %s', async (_what, body, status) => {
    const { url } = await start()
    const delay = monitorEventLoopDelay()
    const response = await fetch(`${url}/decode`, { method: 'POST', headers: { origin }, body })
    const { maxDelayMs } = delay.stop()
    expect(response.status).toBe(status)
    expect(maxDelayMs).toBeLessThan(1_000)
  })

  it('decrypts payloads, those in the store included, and encrypts those of /encode', async () => {
    const keys = new KeyRing({ currentKeyId: 'k1', key: (id) => (id === 'k1' ? randomBytes(32) : undefined) })
    const [encrypted = {}] = await new EncryptionCodec(keys).encode([payloadOf({ secret: 1 })])
    const server = await start({ keys })
    expect(await decode(server, encrypted)).toEqual({ secret: 1 })
    expect(await decode(server, payloadOf({ plain: 1 }))).toEqual({ plain: 1 })
    const response = await post(server, [payloadOf({ sent: 1 })], { origin }, '/encode')
    const text = await response.text()
    expect(text).toContain(Buffer.from('binary/encrypted').toString('base64'))
    const back = await fetch(`${server.url}/decode`, { method: 'POST', headers: { origin }, body: text })
    expect(await back.json()).toEqual({ payloads: [toJson(payloadOf({ sent: 1 }))] })
    const other = await start({ keys: new KeyRing({ currentKeyId: 'k2', key: () => undefined }) })
    const unchanged = await post(other, [encrypted], { origin })
    expect(await unchanged.json()).toEqual({ payloads: [toJson(encrypted)] })
  })

  it('the codec server returns unknown and missing payloads unchanged', async () => {
    const missing = await storedPayload(payloadOf(large))
    for await (const { sha256 } of values.valueStore.list(new AbortController().signal))
      await values.valueStore.remove(sha256, new AbortController().signal)
    const encrypted = { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from([1, 2, 255]) }
    const forged = payloadOf({ 'ptc.value': { sha256: '../../etc/passwd', bytes: 1, preview: '' } })
    const payloads = [missing, encrypted, forged, payloadOf('"ptc.value"')]
    const response = await post(await start(), payloads, { origin })
    expect(await response.json()).toEqual({ payloads: payloads.map(toJson) })
  })

  it('the codec server returns payloads of /encode unchanged without keys', async () => {
    const response = await post(await start(), [payloadOf(large)], { origin }, '/encode')
    expect(await response.json()).toEqual({ payloads: [toJson(payloadOf(large))] })
  })

  it('the codec server answers only the pages of allowed origins, and programs without an origin', async () => {
    const server = await start()
    const allowed = await post(server, [], { origin })
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
    const refused = await post(server, [await storedPayload(payloadOf(large))], { origin: 'https://evil.example' })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null])
    expect((await post(server, [])).status).toBe(200)
    const preflight = await fetch(`${server.url}/decode`, { method: 'OPTIONS', headers: { origin } })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-Namespace')
    server.allowOrigin('http://other')
    expect((await post(server, [], { origin: 'http://other' })).status).toBe(200)
  })

  it('the codec server with a token refuses requests without it', async () => {
    const server = await start({ token: 'secret' })
    expect((await post(server, [], { origin })).status).toBe(401)
    expect((await post(server, [], { origin, authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await post(server, [], { origin, authorization: 'Bearer secret' })).status).toBe(200)
  })

  it('the codec server without a token listens only on the loopback interface', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const server = await start({ host: '0.0.0.0', token: 'secret' })
    expect(server.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
    const { port } = new URL((await start()).url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.end('POST /decode HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /)
  })

  it('the codec server rejects invalid requests', async () => {
    const server = await start()
    expect((await fetch(`${server.url}/decode`)).status).toBe(405)
    expect((await post(server, [], {}, '/other')).status).toBe(404)
    for (const body of ['', '{', '{"payloads":[1]}', '[]'])
      expect((await fetch(`${server.url}/decode`, { method: 'POST', body })).status).toBe(400)
    const tooLarge = fetch(`${server.url}/decode`, { method: 'POST', body: 'x'.repeat(9_000_000) })
    expect(
      await tooLarge.then(
        ({ status }) => status,
        () => 413,
      ),
    ).toBe(413)
  })
})
