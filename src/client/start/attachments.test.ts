import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@temporalio/client'
import { afterAll, expect, it } from 'vitest'
import { refOf } from '../../common/json/external-value.js'
import { type Attachment, attachmentLimits } from '../../common/conversation/attachments.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { createDataConverter } from '../data-converter.js'
import { storeAttachments } from './store-attachments.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
afterAll(() => rmSync(folder, { recursive: true }))

const png = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1')
const pdf = Buffer.from('%PDF-1.7\n')
const file = (name: string, bytes: Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

/** A client that has only a data converter. */
async function clientWithStore(): Promise<Client> {
  const { externalStorage } = await createDataConverter({ kind: 'local', directory: join(folder, 'values') })
  return { options: { loadedDataConverter: { externalStorage } } } as unknown as Client
}

const store = async (...attachments: readonly unknown[]) =>
  storeAttachments(await clientWithStore(), attachments as readonly Attachment[])

it('files, bytes and base64 are stored as attachments, and the model sees only the names of PDFs', async () => {
  const stored = await store(
    { file: file('a.png', png) },
    { data: new Uint8Array(pdf), name: 'Q3.pdf' },
    {
      data: png.toString('base64'),
      mediaType: 'image/png',
    },
  )
  expect(stored).toMatchObject([
    { mediaType: 'image/png', name: 'a.png' },
    { mediaType: 'application/pdf', name: 'Q3.pdf' },
    { mediaType: 'image/png' },
  ])
  expect(stored.map(({ value }) => refOf(value)?.preview)).toEqual(['', '', ''])
  const values = new Values({ store: new LocalStore(join(folder, 'values')) })
  const signal = new AbortController().signal
  const loaded = await Promise.all(stored.map(({ value }) => values.load(value, 'a test', signal)))
  expect(loaded).toEqual([png, pdf, png].map((bytes) => bytes.toString('base64')))
  // A workflow passes stored attachments on.
  expect(await store(...stored)).toEqual(stored)
})

const limit = attachmentLimits.imageBytes
const pngOf = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)])

it.each([
  ['a missing file', [{ file: 'missing.png' }], 'attachment 1: there is no file missing.png'],
  ['a folder', [{ file: folder }], expect.stringContaining("attachment 1: can't read")],
  [
    'another type',
    [{ data: png }, { data: Buffer.from('<svg>') }],
    'attachment 2: it is none of image/png, image/jpeg, image/gif, image/webp, application/pdf',
  ],
  ['a wrong type', [{ data: png, mediaType: 'image/jpeg' }], 'attachment 1: it is image/png, not image/jpeg'],
  ['no base64', [{ data: 'data:image/png;base64,iVBO' }], 'attachment 1: data is not base64'],
  ['neither bytes nor text', [{ data: 7 }], 'attachment 1: data is neither bytes nor base64'],
  ['nothing', [null], 'attachment 1: it is not an object'],
  [
    'a large image',
    [{ data: pngOf(limit + 1) }],
    `attachment 1: it has ${limit + 1} bytes; image/png may have ${limit}`,
  ],
  ['many', Array.from({ length: 21 }, () => ({ data: png })), 'a message may have 20 attachments, not 21'],
  [
    'much',
    Array.from({ length: 6 }, () => ({ data: pngOf(limit) })),
    expect.stringContaining('a message may have 20971520'),
  ],
  [
    'a forged reference',
    [{ value: 'x', mediaType: 'image/png' }],
    expect.stringContaining('it is not in the value store'),
  ],
])('attachments are refused: %s', async (_what, attachments, message) => {
  await expect(store(...attachments)).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID', message })
})

it('only messages with attachments need the value store', async () => {
  const client = { options: { loadedDataConverter: {} } } as unknown as Client
  await expect(storeAttachments(client, [{ data: png }])).rejects.toMatchObject({
    code: 'VALUE_STORE_UNKNOWN',
    hint: expect.stringContaining('createDataConverter') as string,
  })
  expect(await storeAttachments(client, undefined)).toEqual([])
})
