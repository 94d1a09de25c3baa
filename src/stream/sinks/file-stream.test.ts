import { readdirSync } from 'node:fs'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { describeStreamSink, readEntries } from '../../../test/support/stream/conformance.js'
import { temporaryFolder } from '../../../test/support/folders.js'
import { fileStream } from './file-stream.js'

const folder = await mkdtemp(join(tmpdir(), 'ptc-stream-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

describeStreamSink({ create: (options) => fileStream({ folder: join(folder, 'new', 'streams'), ...options }) })

it('a file stream does not return an incomplete line', async () => {
  const own = await temporaryFolder()
  const sink = fileStream({ folder: own })
  await sink.append('name', ['whole'])
  const [file = ''] = readdirSync(own)
  await appendFile(join(own, file), 'ha')
  const reader = sink.reader('name')
  const [first] = await readEntries(reader, 1)
  expect(await reader.read(first?.id, 0)).toEqual([])
  await appendFile(join(own, file), 'lf\n')
  expect(await reader.read(first?.id, 0)).toMatchObject([{ text: 'half' }])
})

it("a file stream rejects entries when it can't write", async () => {
  const own = await temporaryFolder()
  await writeFile(join(own, 'file'), '')
  await expect(fileStream({ folder: join(own, 'file') }).append('name', ['x'])).rejects.toThrow('ENOTDIR')
})

it('a file stream rejects an invalid expiry', () => {
  expect(() => fileStream({ folder, expires: '0s' })).toThrow('invalid `expires`')
})
