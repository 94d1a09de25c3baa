import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { partBytes } from '../common/files/files.js'
import { refOf } from '../common/json/external-value.js'
import { LocalStore } from '../values/local/local-store.js'
import { Values } from '../values/values.js'
import { readStoredFile, storeFile } from './index.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

const store = (path: string, ...pieces: readonly (Uint8Array | string)[]) =>
  storeFile(
    values,
    {
      path,
      // oxlint-disable-next-line require-await
      content: (async function* () {
        for (const piece of pieces) yield Buffer.from(piece)
      })(),
    },
    signal,
  )

describe('a stored file', () => {
  it.each([0, 1, partBytes - 1, partBytes, partBytes + 1, 2 * partBytes])(
    'a file of %i bytes is the same when it is read',
    async (bytes) => {
      const content = randomBytes(bytes)
      const cut = Math.floor(bytes / 3)
      const file = await store('/tmp/in/a', content.subarray(0, cut), content.subarray(cut))
      expect(file).toMatchObject({ bytes, sha256: createHash('sha256').update(content).digest('hex') })
      expect(file.parts).toHaveLength(Math.max(1, Math.ceil(bytes / partBytes)))
      expect((await buffer(readStoredFile(values, file, signal))).equals(content)).toBe(true)
    },
  )

  it('no reference shows the content', async () => {
    const file = await store('/tmp/in/a', 'a secret text')
    expect(refOf(file.parts[0] ?? null)?.preview).toBe('')
  })

  it('a record with another size, hash or part is corrupt', async () => {
    const file = await store('/tmp/in/a', 'abc')
    const other = await store('/tmp/in/b', 'abd')
    const forged = [
      { ...file, bytes: 2 },
      { ...file, bytes: 4 },
      { ...file, sha256: other.sha256 },
      { ...file, parts: other.parts },
      { ...file, parts: [] },
      { ...file, parts: [...file.parts, ...other.parts] },
    ]
    for (const each of forged)
      await expect(buffer(readStoredFile(values, each, signal))).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
  })
})

/** A PNG of this size, as far as its header goes. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(33)
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').copy(header)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return header
}

describe('what is said about a file', () => {
  it.each<[string, string, Uint8Array | string, object]>([
    [
      'an image has its pixels',
      'a.png',
      png(640, 480),
      { mediaType: 'image/png', pixels: { width: 640, height: 480 } },
    ],
    [
      'the content decides, not the name',
      'a.csv',
      png(1, 2),
      { mediaType: 'image/png', pixels: { width: 1, height: 2 } },
    ],
    ['an image that ends in its header has none', 'a.png', png(1, 1).subarray(0, 12), { mediaType: 'image/png' }],
    ['a text has its first lines', 'a.csv', 'a,b\n1,2\n', { mediaType: 'text/csv', preview: 'a,b\n1,2' }],
    ['a long text is cut', 'a.txt', 'x\n'.repeat(50), { preview: `${'x\n'.repeat(10)}…` }],
    ['a long line is cut', 'a.txt', 'x'.repeat(5_000), { preview: expect.stringMatching(/^x{790,800}…$/) }],
    ['bytes have no preview', 'a.bin', Buffer.from([1, 2, 0, 3]), { mediaType: 'application/octet-stream' }],
    ['text that is not UTF-8 has none', 'a.txt', Buffer.from('caf\xe9 au lait', 'latin1'), { mediaType: 'text/plain' }],
    ['an empty file has none', 'a.json', '', { mediaType: 'application/json' }],
    ['a name without an ending', 'Makefile', 'all:', { mediaType: 'application/octet-stream', preview: 'all:' }],
  ])('%s', async (_what, name, content, said) => {
    const { path: _, bytes: __, sha256: ___, parts: ____, ...found } = await store(`/tmp/out/${name}`, content)
    expect(found).toMatchObject(said)
    expect('preview' in found).toBe('preview' in said)
    expect('pixels' in found).toBe('pixels' in said)
  })
})

it('many small pieces are stored as one large one is', async () => {
  const content = randomBytes(100_000)
  const pieces = Array.from(content, (_, index) => content.subarray(index, index + 1))
  const [small, large] = await Promise.all([store('/tmp/in/a', ...pieces), store('/tmp/in/a', content)])
  expect(small).toEqual(large)
})

it('a declared media type counts for content that is not recognized by its first bytes', async () => {
  const text = (async function* () {
    yield Buffer.from('a,b')
  })()
  const named = { path: '/tmp/in/a.txt', content: text, mediaType: 'text/csv' }
  expect(await storeFile(values, named, signal)).toMatchObject({ mediaType: 'text/csv', preview: 'a,b' })
})
