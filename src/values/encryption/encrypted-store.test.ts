import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import { externalValue, refOf } from '../../common/json/external-value.js'
import { LocalStore } from '../local/local-store.js'
import type { StoredContent } from '../store.js'
import { Values } from '../values.js'
import { EncryptedStore } from './encrypted-store.js'
import { KeyRing } from './key-ring.js'

const signal = new AbortController().signal
const chunk = 64 * 1024
const secrets = new Map([
  ['k1', randomBytes(32)],
  ['k2', randomBytes(32)],
])
let directory = ''
let plain: LocalStore

beforeEach(async () => {
  directory = await temporaryFolder()
  plain = new LocalStore(directory)
})

function storeWith(currentKeyId: string, known = secrets) {
  return new EncryptedStore(plain, new KeyRing({ currentKeyId, key: (id) => known.get(id) }))
}

async function bytesOf(store: EncryptedStore, content: StoredContent): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(content, signal)) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function onlyFile(): Promise<string> {
  const files = await filesIn(directory)
  expect(files).toHaveLength(1)
  return files[0] ?? ''
}

describe('an encrypted store', () => {
  it.each([0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 300_000])(
    'an encrypted store returns the %i bytes that it has stored, from pieces of any size',
    async (size) => {
      const content = randomBytes(size)
      const pieces = [content.subarray(0, 7), content.subarray(7, 100_000), content.subarray(100_000)]
      const store = storeWith('k1')
      const stored = await store.put(pieces, signal)
      expect(stored.bytes).toBe(size)
      expect(content.equals(await bytesOf(store, stored))).toBe(true)
      // Garbage collection reads the value in this way.
      for await (const each of store.list(signal)) expect(content.equals(await bytesOf(store, each))).toBe(true)
    },
  )

  it('an encrypted store contains neither the content nor its digest, and equal contents look different', async () => {
    const store = storeWith('k1')
    const content = [Buffer.from('marker '.repeat(1_000))]
    const first = await store.put(content, signal)
    const second = await store.put(content, signal)
    expect(second.sha256).toBe(first.sha256)
    expect(second.stored?.sha256).not.toBe(first.stored?.sha256)
    const files = await filesIn(directory)
    expect(files).toHaveLength(2)
    for (const file of files) {
      expect((await readFile(file)).includes('marker')).toBe(false)
      expect(file).not.toContain(first.sha256)
    }
  })

  it('an encrypted store reads values of earlier keys, and values from before the encryption', async () => {
    const before = await plain.put([Buffer.from('"before"')], signal)
    const earlier = await storeWith('k1').put([Buffer.from('"earlier"')], signal)
    const store = storeWith('k2')
    expect((await bytesOf(store, before)).toString()).toBe('"before"')
    expect((await bytesOf(store, earlier)).toString()).toBe('"earlier"')
  })

  it('an encrypted store names a missing key, and refuses another key of the same id', async () => {
    const stored = await storeWith('k1').put([Buffer.from('secret')], signal)
    await expect(bytesOf(storeWith('k2', new Map()), stored)).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_UNAVAILABLE',
      message: expect.stringContaining('"k1"'),
    })
    const other = new Map([['k1', randomBytes(32)]])
    await expect(bytesOf(storeWith('k1', other), stored)).rejects.toMatchObject({ code: 'DECRYPTION_FAILED' })
  })

  it('an encrypted store stores nothing without its current key', async () => {
    await expect(storeWith('k3').put([Buffer.from('secret')], signal)).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_UNAVAILABLE',
    })
    expect(await filesIn(directory)).toEqual([])
  })

  it.each([
    ['a changed header', (file: Buffer) => file.fill(file.readUInt8(12) ^ 1, 12, 13)],
    ['two chunks in another order', swapChunks],
    ['its last chunk missing', (file: Buffer) => file.subarray(0, headerBytes + chunk + 16)],
    ['a tag that is cut off', (file: Buffer) => file.subarray(0, -8)],
  ])('an encrypted store refuses a value with %s, although the file has the right digest', async (_what, change) => {
    const store = storeWith('k1')
    await store.put([randomBytes(2 * chunk)], signal)
    const file = change(await readFile(await onlyFile()))
    const forged = await plain.put([file], signal)
    await expect(bytesOf(store, forged)).rejects.toMatchObject({ code: 'DECRYPTION_FAILED' })
  })

  it('an encrypted store refuses an object that is another value', async () => {
    const store = storeWith('k1')
    const [one, other] = [await store.put([Buffer.from('1')], signal), await store.put([Buffer.from('2')], signal)]
    const mixed = { ...one, ...(other.stored && { stored: other.stored }) }
    await expect(bytesOf(store, mixed)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
  })

  it('an encrypted store refuses a changed file', async () => {
    const store = storeWith('k1')
    const stored = await store.put([Buffer.from('secret')], signal)
    const path = await onlyFile()
    const file = await readFile(path)
    await writeFile(path, file.fill(file.readUInt8(60) ^ 1, 60, 61))
    await expect(bytesOf(store, stored)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
  })
})

/** Bytes of the magic, the length of the id, the id "k1" and the salt. */
const headerBytes = 8 + 1 + 2 + 32

function swapChunks(file: Buffer): Buffer {
  const size = chunk + 16
  const [first, second] = [headerBytes, headerBytes + size].map((start) => file.subarray(start, start + size))
  return Buffer.concat([file.subarray(0, headerBytes), ...(second && first ? [second, first] : [])])
}

describe('values in an encrypted store', () => {
  it('encrypted values have references with their own digest, and are loaded by such a reference', async () => {
    const values = new Values({ store: storeWith('k1'), inlineBytes: 10, cacheBytes: 0 })
    const value = { text: 'marker '.repeat(10) }
    const external = await values.externalize(value, signal)
    const ref = refOf(external)
    const { sha256, bytes } = await new LocalStore(await temporaryFolder()).put(
      [JSON.stringify(value)].map(toBytes),
      signal,
    )
    expect(ref).toMatchObject({ sha256, bytes, stored: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } })
    const fromHistory = JSON.parse(JSON.stringify(external)) as typeof external
    expect(await values.load(fromHistory, 'a value', signal)).toEqual(value)
    expect(ref && externalValue(ref)).toEqual(external)
  })

  it('references to encrypted values are not longer than estimated', async () => {
    const values = new Values({ store: storeWith('k1'), inlineBytes: 10 })
    const value = 'x'.repeat(5_000)
    const reference = JSON.stringify(await values.externalize(value, signal))
    expect(values.inlineSize(value)).toBeGreaterThanOrEqual(reference.length)
  })

  it('the error for a missing key names the purpose of the value', async () => {
    const external = await new Values({ store: storeWith('k1'), inlineBytes: 1 }).externalize('secret', signal)
    const values = new Values({ store: storeWith('k2', new Map()), retryForMs: 0 })
    await expect(values.load(external, 'the code of cell 1', signal)).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_UNAVAILABLE',
      message: expect.stringMatching(/^the code of cell 1 can't be decrypted \(there is no encryption key "k1"/),
    })
  })
})

function toBytes(text: string): Uint8Array {
  return Buffer.from(text)
}
