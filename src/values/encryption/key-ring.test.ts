import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { KeyRing } from './key-ring.js'

const bytes = randomBytes(32)

function ringOf(key: (id: string) => unknown) {
  const asked: string[] = []
  // A configuration in JavaScript may return a value of any type.
  const resolve = (id: string) => {
    asked.push(id)
    return key(id) as string | undefined
  }
  return { ring: new KeyRing({ currentKeyId: 'k1', key: resolve }), asked }
}

it('a key ring accepts bytes, base64 and promises, and asks for a key once', async () => {
  for (const material of [bytes, bytes.toString('base64'), `${bytes.toString('base64')}\n`, Promise.resolve(bytes)]) {
    const { ring, asked } = ringOf(() => material)
    const [first, second] = await Promise.all([ring.current(), ring.find('k1')])
    expect(Buffer.from(first.bytes).equals(bytes)).toBe(true)
    expect(second).toBe(first)
    expect(asked).toEqual(['k1'])
  }
})

it('a key ring asks again for a missing key, and names it', async () => {
  let found: Buffer | undefined
  const { ring } = ringOf(() => found)
  await expect(ring.find('k7')).rejects.toMatchObject({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('"k7"'),
  })
  found = bytes
  expect(await ring.find('k7')).toMatchObject({ id: 'k7' })
})

it('a resolver that throws is reported as an unavailable key', async () => {
  const { ring } = ringOf(() => {
    throw new Error('the key service does not answer')
  })
  await expect(ring.current()).rejects.toMatchObject({
    code: 'ENCRYPTION_KEY_UNAVAILABLE',
    message: expect.stringContaining('the key service does not answer'),
  })
})

it.each([[randomBytes(16)], ['too short'], [bytes.toString('hex')], [''], [7], [null]])(
  'a key ring refuses material that is not a key of 32 bytes (%#), without quoting it',
  async (material) => {
    const { ring } = ringOf(() => material)
    const error: unknown = await ring.current().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: 'the encryption key "k1" is not 32 bytes' })
  },
)

it.each(['../../etc/passwd', '', 'a b', '.k', 'x'.repeat(65)])(
  'the id %j of a payload is not passed to the resolver',
  async (id) => {
    const { ring, asked } = ringOf(() => bytes)
    await expect(ring.find(id)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
    expect(asked).toEqual([])
  },
)
