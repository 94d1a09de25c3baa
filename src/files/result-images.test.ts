import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { LocalStore } from '../values/local/local-store.js'
import { Values } from '../values/values.js'
import { FoundImages } from './index.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

/** The first bytes of a PNG, which has no content. */
function png(width: number, height: number, bytes = 40): string {
  const start = Buffer.alloc(bytes)
  start.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  start.writeUInt32BE(width, 16)
  start.writeUInt32BE(height, 20)
  return start.toString('base64')
}

function found(...data: readonly string[]): FoundImages {
  const images = new FoundImages()
  for (const each of data) images.add(each)
  return images
}

it('stores images, whatever form their Base64 has', async () => {
  const image = png(2, 3)
  const { shown, note } = await found(image, `${image.slice(0, 30)}\n${image.slice(30)}`).store(values, 4, signal)
  expect(note).toBe('')
  expect(shown).toMatchObject([
    { name: 'image 1', mediaType: 'image/png' },
    { name: 'image 2', mediaType: 'image/png' },
  ])
  for (const { data } of shown) expect(await values.load(data, 'the test', signal)).toBe(image)
})

it('says why an image is not shown', async () => {
  const gif = `R0lGOD${'A'.repeat(10)}`
  const images = found('', 'no image', gif, png(2_001, 1), png(1, 1, 4_000_000), 'A'.repeat(10_000_000), png(1, 1))
  const { shown, note } = await images.store(values, 4, signal)
  expect(shown.map(({ name }) => name)).toEqual(['image 7'])
  expect(note.split('\n')).toEqual([
    '[image 1] is not shown: it is no PNG, JPEG, GIF or WebP',
    '[image 2] is not shown: it is no PNG, JPEG, GIF or WebP',
    '[image 3] is not shown: it is no PNG, JPEG, GIF or WebP',
    '[image 4] is not shown: it has 2001 x 1 pixels; 2000 are the limit for each side',
    '[image 5] is not shown: it has more than 3.75 MiB',
    '[image 6] is not shown: it has more than 3.75 MiB',
  ])
})

it('reads the first of very many images', async () => {
  const images = found(...Array.from({ length: 100_000 }, () => png(1, 1)))
  const { shown, note } = await images.store(values, 4, signal)
  expect(shown).toHaveLength(4)
  expect(note).toBe('99996 more images not shown: a model sees 4 images of a turn, and 20 of a run')
  const others = await found(...Array.from({ length: 100 }, () => 'no image')).store(values, 4, signal)
  expect(others.note.split('\n')).toHaveLength(21)
  expect(others.note).toMatch(/\n80 more images not shown: only the first 20 are read$/)
  expect(await found(png(1, 1)).store(values, 0, signal)).toMatchObject({
    shown: [],
    note: expect.stringMatching(/^1 more image not shown/),
  })
})
