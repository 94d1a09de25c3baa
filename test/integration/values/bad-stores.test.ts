import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { externalValue } from '../../../src/common/json/external-value.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { S3Store } from '../../../src/values/s3/s3-store.js'
import type { StoredContent, ValueStore } from '../../../src/values/store.js'
import { Values } from '../../../src/values/values.js'
import { SlowProxy } from '../../support/faults/slow-proxy.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { canMount, SmallDisk } from '../../support/faults/small-disk.js'
import { readAll, neverAborted } from '../../support/values/conformance.js'

const mountable = await canMount()
const withS3 = (await s3Available) !== undefined
const megabyte = 1024 * 1024
const big = Array.from({ length: 20_000 }, (_, row) => ({ row, text: 'travel' }))

/** Changes of a value's file, and the error for a reader. */
const corruptions: readonly [string, string, (file: string, other: string) => Promise<void>][] = [
  ['deleted', 'VALUE_MISSING', (file) => rm(file)],
  ['overwritten', 'VALUE_CORRUPT', (file) => writeFile(file, randomBytes(megabyte))],
  ['truncated', 'VALUE_CORRUPT', (file) => truncate(file, 1_000)],
  ['replaced by another', 'VALUE_CORRUPT', (file, other) => copyFile(other, file)],
]

function rejectsCorruptContent(open: () => ValueStore, fileOf: (sha256: string) => string): void {
  it.each(corruptions)(
    'a stored value that was %s is %s, and other values are unaffected',
    async (_what, code, corrupt) => {
      const store = open()
      const value = await store.put([randomBytes(megabyte)], neverAborted)
      const other = await store.put([randomBytes(megabyte - 1)], neverAborted)
      await corrupt(fileOf(value.sha256), fileOf(other.sha256))
      await expect(readAll(store, value)).rejects.toMatchObject({ code })
      expect(await readAll(store, other)).toHaveLength(other.bytes)
    },
  )
}

describe('LocalStore', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
    return () => rm(directory, { recursive: true })
  })
  const open = (): LocalStore => new LocalStore(join(directory, 'values'))
  rejectsCorruptContent(open, (key) => join(directory, 'values', key.slice(0, 2), key.slice(2, 4), key))

  it('LocalStore is retried while its directory is missing, and does not create it again', async () => {
    const values = new Values({ store: open() })
    const before = await values.externalize({ first: big }, neverAborted)
    await rename(join(directory, 'values'), join(directory, 'unmounted'))
    const externalizing = values.externalize(big, neverAborted)
    const loading = values.load(before, 'the test', neverAborted)
    const withoutRetries = new Values({ store: open(), retryForMs: 0 })
    await expect(withoutRetries.load(before, 'the test', neverAborted)).rejects.toMatchObject({
      code: 'VALUE_STORE_UNAVAILABLE',
    })
    expect(await readdir(directory)).toEqual(['unmounted'])
    await rename(join(directory, 'unmounted'), join(directory, 'values'))
    expect(await values.load(await externalizing, 'the test', neverAborted)).toEqual(big)
    expect(await loading).toEqual({ first: big })
  })

  it('LocalStore removes the temporary file of a killed writer, and keeps that of an active one', async () => {
    const incoming = join(directory, 'values', 'incoming')
    await mkdir(incoming, { recursive: true })
    await writeFile(join(incoming, 'killed'), 'half of a value')
    await writeFile(join(incoming, 'alive'), 'half of a value')
    const yesterday = Date.now() / 1000 - 86_400
    await utimes(join(incoming, 'killed'), yesterday, yesterday)
    await open().put([Buffer.from('a value')], neverAborted)
    expect(await readdir(incoming)).toEqual(['alive'])
  })

  describe.skipIf(!mountable)('on a small disk', () => {
    it('LocalStore reports VALUE_STORE_FULL, leaves no partial file, and works again when there is space', async () => {
      const disk = await mountSmallDisk()
      const store = new LocalStore(disk.folder)
      const earlier = await store.put([randomBytes(300_000)], neverAborted)
      await expect(store.put([randomBytes(megabyte)], neverAborted)).rejects.toMatchObject({ code: 'VALUE_STORE_FULL' })
      expect(await readdir(join(disk.folder, 'incoming'))).toEqual([])
      expect(await readAll(store, earlier)).toHaveLength(300_000)

      const values = new Values({ store })
      const externalizing = values.externalize(randomBytes(450_000).toString('base64'), neverAborted)
      await store.remove(earlier.sha256, neverAborted)
      expect(await values.load(await externalizing, 'the test', neverAborted)).toHaveLength(600_000)
    })

    it('LocalStore refuses writes to a read-only disk without retries, and reads from it', async () => {
      const disk = await mountSmallDisk()
      const earlier = await new LocalStore(disk.folder).put([randomBytes(1_000)], neverAborted)
      await disk.setReadOnly()
      const store = new LocalStore(disk.folder)
      await expect(new Values({ store }).externalize(big, neverAborted)).rejects.toMatchObject({
        code: 'VALUE_STORE_REFUSED',
      })
      expect(await readAll(store, earlier)).toHaveLength(1_000)
    })
  })
})

describe.skipIf(!withS3)('S3Store', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server.close())
  const open = (): S3Store => new S3Store(server.settings('bad/'))
  rejectsCorruptContent(open, (key) => server.fileOf(`bad/${key}`))

  it('S3Store is retried while its server is down', async () => {
    const values = new Values({ store: open() })
    const before = await values.externalize({ first: big }, neverAborted)
    await server.kill()
    const withoutRetries = new Values({ store: open(), retryForMs: 0 })
    await expect(withoutRetries.externalize(big, neverAborted)).rejects.toMatchObject({
      code: 'VALUE_STORE_UNAVAILABLE',
    })
    const externalizing = values.externalize(big, neverAborted)
    const loading = values.load(before, 'the test', neverAborted)
    await server.startProcess()
    expect(await values.load(await externalizing, 'the test', neverAborted)).toEqual(big)
    expect(await loading).toEqual({ first: big })
  })

  it('S3Store waits for a slow server as long as data arrives', async () => {
    const store = await openThroughProxy(50)
    const stored = await store.put([randomBytes(3 * megabyte)], neverAborted)
    expect(await readAll(store, stored)).toHaveLength(3 * megabyte)
  })

  it('S3Store reports VALUE_STORE_UNAVAILABLE for a server that does not answer', async () => {
    const store = await openThroughProxy(undefined)
    const stored: StoredContent = { sha256: '0'.repeat(64), bytes: 1 }
    await expect(store.put([Buffer.from('x')], neverAborted)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
    await expect(readAll(store, stored)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
  })

  it('S3Store refuses without retries when the bucket is missing or access is denied', async () => {
    const absent = new S3Store({ ...server.settings(), bucket: 'no-such-bucket' })
    await expect(new Values({ store: absent }).externalize(big, neverAborted)).rejects.toMatchObject({
      code: 'VALUE_STORE_REFUSED',
    })
    const secret = process.env['AWS_SECRET_ACCESS_KEY']
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    onTestFinished(() => void (process.env['AWS_SECRET_ACCESS_KEY'] = secret))
    const unauthorized = open()
    await expect(new Values({ store: unauthorized }).externalize(big, neverAborted)).rejects.toMatchObject({
      code: 'VALUE_STORE_REFUSED',
      message: expect.not.stringContaining('wrong'),
      hint: expect.stringContaining('credentials'),
    })
  })

  it.skipIf(!mountable)('S3Store reports a retryable error when the server is full', async () => {
    const disk = await mountSmallDisk()
    const small = await S3Server.start(disk.folder)
    onTestFinished(() => small.close())
    const store = new S3Store(small.settings())
    const failing = store.put([randomBytes(3 * megabyte)], neverAborted)
    await expect(failing).rejects.toMatchObject({ retryable: true })
  })

  async function openThroughProxy(pauseMs: number | undefined): Promise<S3Store> {
    const proxy = await SlowProxy.start(Number(new URL(server.endpoint).port), pauseMs)
    onTestFinished(() => proxy.close())
    return new S3Store({ ...server.settings('bad/'), endpoint: proxy.endpoint }, 1_000)
  }
})

/** Mounts a disk of a megabyte for the duration of the test. */
async function mountSmallDisk(): Promise<SmallDisk> {
  const disk = await SmallDisk.mount(megabyte)
  onTestFinished(() => disk.close())
  return disk
}

it('the error of a missing value names the part that needed it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const values = new Values({ store: new LocalStore(directory) })
  await values.externalize(big, neverAborted)
  const ref = externalValue({ sha256: 'a'.repeat(64), bytes: 9, preview: '' })
  const needed = 'the result of get_expenses (call 3 of cell 2)'
  await expect(values.load(ref, needed, neverAborted)).rejects.toMatchObject({
    code: 'VALUE_MISSING',
    message: expect.stringContaining(`${needed} is missing from the value store`),
  })
})
