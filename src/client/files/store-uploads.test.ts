import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@temporalio/client'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import type { FileUpload } from '../../common/files/files.js'
import { createDataConverter } from '../data-converter.js'
import { checkUploads, storeUploads } from './store-uploads.js'

async function* pieces(...all: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece)
}

it('stores files, bytes, texts and streams under paths in the folder for uploads, and reports the progress', async () => {
  const folder = await temporaryFolder()
  writeFileSync(join(folder, 'a.txt'), 'of a file')
  const loadedDataConverter = await createDataConverter({ kind: 'local', directory: join(folder, 'values') })
  const client = { options: { loadedDataConverter } } as unknown as Client
  const progress: number[] = []
  const uploads: readonly FileUpload[] = [
    { file: join(folder, 'a.txt') },
    { data: 'a text', path: 'sub/b.txt' },
    { data: Buffer.from([1, 2]), path: '/tmp/in/c.bin' },
    { content: pieces('a ', 'stream'), path: 'd' },
  ]
  const stored = await storeUploads(client, uploads, { onProgress: (bytes) => progress.push(bytes) })
  expect(stored.map(({ path, bytes }) => [path, bytes])).toEqual([
    ['/tmp/in/a.txt', 9],
    ['/tmp/in/sub/b.txt', 6],
    ['/tmp/in/c.bin', 2],
    ['/tmp/in/d', 8],
  ])
  expect(progress.reduce((sum, bytes) => sum + bytes, 0)).toBe(25)
  // A stored file is not stored again.
  expect(await storeUploads(client, stored)).toEqual(stored)
  await expect(storeUploads(client, [...stored, ...uploads.slice(1, 2)])).rejects.toThrow(
    '/tmp/in/sub/b.txt is there twice',
  )
})

it('refuses wrong uploads before anything is stored', async () => {
  const folder = await temporaryFolder()
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'large'), '')
  truncateSync(join(folder, 'large'), 2 ** 30 + 1)
  for (const [upload, problem] of [
    [null, 'file 1: it is not an object'],
    [{}, 'file 1: it has no path'],
    [{ file: 7 }, 'file 1: it has no path'],
    [{ file: join(folder, 'none') }, 'there is no file'],
    [{ file: join(folder, 'sub') }, 'is not a file'],
    [{ file: join(folder, 'large') }, 'has 1073741825 bytes; a file may have 1073741824'],
    [{ data: 'x', path: '../x' }, 'file 1: the path "../x": it has an empty name, or a dot as one'],
    [{ data: 'x', path: '/etc/passwd' }, 'file 1: the path "/etc/passwd": it is not in /tmp/in'],
    [{ data: 'x' }, 'file 1: it has no path'],
    [{ data: 7, path: 'x' }, 'file 1: data is neither bytes nor a text'],
    [{ content: 'x', path: 'x' }, 'file 1: content is not an async iterable'],
  ] as const)
    await expect(checkUploads([upload as unknown as FileUpload])).rejects.toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: expect.stringContaining(problem),
    })
})
