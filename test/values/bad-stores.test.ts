import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { heldElsewhere } from '../../src/common/values.js'
import { LocalStore } from '../../src/values/local-store.js'
import { S3Store } from '../../src/values/s3-store.js'
import type { StoredContent, ValueStore } from '../../src/values/store.js'
import { Values } from '../../src/values/values.js'
import { Proxy } from '../support/proxy.js'
import { s3Available, S3Server } from '../support/s3-server.js'
import { canMount, SmallDisk } from '../support/small-disk.js'
import { collect, forever } from './conformance.js'

const mountable = await canMount()
const withS3 = (await s3Available) !== undefined
const megabyte = 1024 * 1024
const big = Array.from({ length: 20_000 }, (_, row) => ({ row, text: 'travel' }))

/** What somebody does to the file of a value, and what a reader then is told. */
const spoilt: readonly [string, string, (file: string, other: string) => Promise<void>][] = [
  ['deleted by hand', 'VALUE_MISSING', (file) => rm(file)],
  ['written over', 'VALUE_CORRUPT', (file) => writeFile(file, randomBytes(megabyte))],
  ['cut short', 'VALUE_CORRUPT', (file) => truncate(file, 1_000)],
  ['replaced by another', 'VALUE_CORRUPT', (file, other) => copyFile(other, file)],
]

function spoils(open: () => ValueStore, fileOf: (sha256: string) => string): void {
  it.each(spoilt)('a value that was %s is %s, and another is none the worse', async (_what, code, spoil) => {
    const store = open()
    const value = await store.put([randomBytes(megabyte)], forever)
    const other = await store.put([randomBytes(megabyte - 1)], forever)
    await spoil(fileOf(value.sha256), fileOf(other.sha256))
    await expect(collect(store, value)).rejects.toMatchObject({ code })
    expect(await collect(store, other)).toHaveLength(other.bytes)
  })
}

describe('a folder', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
    return () => rm(directory, { recursive: true })
  })
  const open = (): LocalStore => new LocalStore(join(directory, 'values'))
  spoils(open, (key) => join(directory, 'values', key.slice(0, 2), key.slice(2, 4), key))

  it('that is gone for a while is waited for, and not begun anew in its place', async () => {
    const values = new Values({ store: open() })
    const before = await values.hold({ first: big }, forever)
    await rename(join(directory, 'values'), join(directory, 'unmounted'))
    const holding = values.hold(big, forever)
    const loading = values.load(before, 'the test', forever)
    const impatient = new Values({ store: open(), patienceMs: 0 })
    await expect(impatient.load(before, 'the test', forever)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
    expect(await readdir(directory)).toEqual(['unmounted'])
    await rename(join(directory, 'unmounted'), join(directory, 'values'))
    expect(await values.load(await holding, 'the test', forever)).toEqual(big)
    expect(await loading).toEqual({ first: big })
  })

  it('loses what a killed writer left, and not what one is writing', async () => {
    const incoming = join(directory, 'values', 'incoming')
    await mkdir(incoming, { recursive: true })
    await writeFile(join(incoming, 'killed'), 'half of a value')
    await writeFile(join(incoming, 'alive'), 'half of a value')
    const yesterday = Date.now() / 1000 - 86_400
    await utimes(join(incoming, 'killed'), yesterday, yesterday)
    await open().put([Buffer.from('a value')], forever)
    expect(await readdir(incoming)).toEqual(['alive'])
  })

  describe.skipIf(!mountable)('on a disk', () => {
    it('that is full says so, leaves nothing half written, and goes on when there is room', async () => {
      const disk = await smallDisk()
      const store = new LocalStore(disk.folder)
      const kept = await store.put([randomBytes(300_000)], forever)
      await expect(store.put([randomBytes(megabyte)], forever)).rejects.toMatchObject({ code: 'VALUE_STORE_FULL' })
      expect(await readdir(join(disk.folder, 'incoming'))).toEqual([])
      expect(await collect(store, kept)).toHaveLength(300_000)

      const values = new Values({ store })
      const holding = values.hold(randomBytes(450_000).toString('base64'), forever)
      await store.remove(kept.sha256, forever)
      expect(await values.load(await holding, 'the test', forever)).toHaveLength(600_000)
    })

    it('that is read-only refuses, and can still be read', async () => {
      const disk = await smallDisk()
      const kept = await new LocalStore(disk.folder).put([randomBytes(1_000)], forever)
      await disk.setReadOnly()
      const store = new LocalStore(disk.folder)
      // At once, however patient: waiting cures nothing.
      await expect(new Values({ store }).hold(big, forever)).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
      expect(await collect(store, kept)).toHaveLength(1_000)
    })
  })
})

describe.skipIf(!withS3)('a bucket', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server.close())
  const open = (): S3Store => new S3Store(server.settings('bad/'))
  spoils(open, (key) => server.fileOf(`bad/${key}`))

  it('whose server is gone for a while is waited for', async () => {
    const values = new Values({ store: open() })
    const before = await values.hold({ first: big }, forever)
    await server.down()
    const impatient = new Values({ store: open(), patienceMs: 0 })
    await expect(impatient.hold(big, forever)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
    const holding = values.hold(big, forever)
    const loading = values.load(before, 'the test', forever)
    await server.up()
    expect(await values.load(await holding, 'the test', forever)).toEqual(big)
    expect(await loading).toEqual({ first: big })
  })

  it('that is slow is waited for as long as it moves', async () => {
    const store = await through(50)
    const stored = await store.put([randomBytes(3 * megabyte)], forever)
    expect(await collect(store, stored)).toHaveLength(3 * megabyte)
  })

  it('that says nothing is given up', async () => {
    const store = await through(undefined)
    const stored: StoredContent = { sha256: '0'.repeat(64), bytes: 1 }
    await expect(store.put([Buffer.from('x')], forever)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
    await expect(collect(store, stored)).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
  })

  it('that lets nobody in, or is not there, refuses at once, however patient', async () => {
    const absent = new S3Store({ ...server.settings(), bucket: 'no-such-bucket' })
    await expect(new Values({ store: absent }).hold(big, forever)).rejects.toMatchObject({
      code: 'VALUE_STORE_REFUSED',
    })
    const secret = process.env['AWS_SECRET_ACCESS_KEY']
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    onTestFinished(() => void (process.env['AWS_SECRET_ACCESS_KEY'] = secret))
    const stranger = open()
    await expect(new Values({ store: stranger }).hold(big, forever)).rejects.toMatchObject({
      code: 'VALUE_STORE_REFUSED',
      message: expect.not.stringContaining('wrong'),
      hint: expect.stringContaining('credentials'),
    })
  })

  it.skipIf(!mountable)('that is full can be tried again later', async () => {
    const disk = await smallDisk()
    const small = await S3Server.start(disk.folder)
    onTestFinished(() => small.close())
    const store = new S3Store(small.settings())
    const failing = store.put([randomBytes(3 * megabyte)], forever)
    await expect(failing).rejects.toMatchObject({ retryable: true })
  })

  async function through(pauseMs: number | undefined): Promise<S3Store> {
    const proxy = await Proxy.start(Number(new URL(server.endpoint).port), pauseMs)
    onTestFinished(() => proxy.close())
    return new S3Store({ ...server.settings('bad/'), endpoint: proxy.endpoint }, 1_000)
  }
})

/** Of a megabyte, gone with the test. */
async function smallDisk(): Promise<SmallDisk> {
  const disk = await SmallDisk.mount(megabyte)
  onTestFinished(() => disk.close())
  return disk
}

it('a reference whose value is gone names what needed it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const values = new Values({ store: new LocalStore(directory) })
  await values.hold(big, forever)
  const ref = heldElsewhere({ sha256: 'a'.repeat(64), bytes: 9, preview: '' })
  const needed = 'the result of get_expenses (call 3 of cell 2)'
  await expect(values.load(ref, needed, forever)).rejects.toMatchObject({
    code: 'VALUE_MISSING',
    message: expect.stringContaining(`${needed} is missing from the value store`),
  })
})
