import { createCipheriv, randomBytes } from 'node:crypto'
import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import proto from '@temporalio/proto'
import { expect, it } from 'vitest'
import { KeyRing } from './key-ring.js'
import { EncryptionCodec, encryptionKeyId } from './payload-codec.js'

const keys = new Map([
  ['k1', randomBytes(32)],
  ['k2', randomBytes(32)],
])
const codecOf = (currentKeyId: string, known = keys) =>
  new EncryptionCodec(new KeyRing({ currentKeyId, key: (id) => known.get(id) }))
const payload = defaultPayloadConverter.toPayload({ secret: 'marker' })
const bytesOf = ({ data }: Payload) => Buffer.from(data ?? [])

it('an encrypted payload is decoded with its metadata', async () => {
  const codec = codecOf('k1')
  const withNote = { ...payload, metadata: { ...payload.metadata, note: Buffer.from('n') } }
  const [encoded = {}] = await codec.encode([withNote])
  expect(Object.keys(encoded.metadata ?? {}).sort()).toEqual(['encoding', 'encryption-key-id'])
  expect(bytesOf(encoded).includes('marker')).toBe(false)
  const [decoded = {}] = await codec.decode([encoded])
  expect(defaultPayloadConverter.fromPayload(decoded)).toEqual({ secret: 'marker' })
  expect(Buffer.from(decoded.metadata?.['note'] ?? []).toString()).toBe('n')
})

it('the same payload is encrypted differently each time', async () => {
  const [first = {}, second = {}] = await codecOf('k1').encode([payload, payload])
  expect(bytesOf(first).equals(bytesOf(second))).toBe(false)
})

it('an encrypted payload without data is decoded to empty bytes', async () => {
  const codec = codecOf('k1')
  const [decoded = {}] = await codec.decode(await codec.encode([defaultPayloadConverter.toPayload(undefined)]))
  expect(decoded.data).toEqual(new Uint8Array())
  expect(defaultPayloadConverter.fromPayload(decoded)).toBe(undefined)
})

it('the codec returns payloads that are not encrypted unchanged', async () => {
  expect(await codecOf('k1').decode([payload])).toEqual([payload])
})

it('payloads are encrypted with the current key, and decrypted with the key that they name', async () => {
  const old = await codecOf('k1').encode([payload])
  const rotated = codecOf('k2')
  const [current = {}] = await rotated.encode([payload])
  expect(encryptionKeyId(current)).toBe('k2')
  for (const each of [...old, current]) {
    const [decoded = {}] = await rotated.decode([each])
    expect(defaultPayloadConverter.fromPayload(decoded)).toEqual({ secret: 'marker' })
  }
})

it('the error of the codec names the missing key', async () => {
  const encoded = await codecOf('k1').encode([payload])
  const without = codecOf('k2', new Map([['k2', randomBytes(32)]]))
  await expect(without.decode(encoded)).rejects.toMatchObject({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    message: expect.stringContaining('"k1"'),
  })
})

it('the codec refuses another key of the same id', async () => {
  const encoded = await codecOf('k1').encode([payload])
  const other = codecOf('k1', new Map([['k1', randomBytes(32)]]))
  await expect(other.decode(encoded)).rejects.toMatchObject({ code: 'DECRYPTION_FAILED', retryable: false })
})

it.each([
  ['a changed byte', (data: Buffer) => data.fill(data.readUInt8(20) ^ 1, 20, 21)],
  ['a changed tag', (data: Buffer) => data.fill(data.readUInt8(data.length - 1) ^ 1, data.length - 1)],
  ['a changed nonce', (data: Buffer) => data.fill(data.readUInt8(0) ^ 1, 0, 1)],
  ['an end that is missing', (data: Buffer) => data.subarray(0, -1)],
  ['nothing but a nonce', (data: Buffer) => data.subarray(0, 12)],
  ['nothing', () => Buffer.alloc(0)],
])('the codec refuses a payload with %s', async (_what, change) => {
  const codec = codecOf('k1')
  const [encoded = {}] = await codec.encode([payload])
  const changed = { ...encoded, data: change(Buffer.from(bytesOf(encoded))) }
  await expect(codec.decode([changed])).rejects.toMatchObject({ code: 'DECRYPTION_FAILED' })
})

it('the codec reads the format of the encryption samples of Temporal', async () => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keys.get('k1') ?? Buffer.alloc(0), nonce)
  const content = proto.temporal.api.common.v1.Payload.encode(payload).finish()
  const data = Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()])
  const metadata = { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('k1') }
  const [decoded = {}] = await codecOf('k2').decode([{ metadata, data }])
  expect(defaultPayloadConverter.fromPayload(decoded)).toEqual({ secret: 'marker' })
})

it('the codec throws the error that a worker has converted', async () => {
  const keys = new KeyRing({ currentKeyId: 'k1', key: () => undefined })
  const codec = new EncryptionCodec(keys, (cause) => new Error('for Temporal', { cause }))
  await expect(codec.encode([payload])).rejects.toMatchObject({
    message: 'for Temporal',
    cause: { code: 'ENCRYPTION_KEY_UNAVAILABLE' },
  })
})
