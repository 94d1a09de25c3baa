import { createHash, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { StoredContent, ValueStat, ValueStore } from '../../../src/values/store.js'

/** One kind of store, as seen from outside. */
export interface ValueStoreFactory {
  /** Creates a store for one test. */
  open(): Promise<ValueStore>
  /** Opens the same store again, like another worker. */
  openAgain(): Promise<ValueStore>
}

export const neverAborted = new AbortController().signal

export async function readAll(store: ValueStore, content: StoredContent): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(content, neverAborted)) pieces.push(piece)
  return Buffer.concat(pieces)
}

export async function listAll(store: ValueStore): Promise<readonly ValueStat[]> {
  const all: ValueStat[] = []
  for await (const one of store.list(neverAborted)) all.push(one)
  return all
}

export function keyOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

const sizes: readonly [string, number][] = [
  ['nothing', 0],
  ['a byte', 1],
  ['1 MiB and one byte', 1024 * 1024 + 1],
  ['an upload of three parts', 20 * 1024 * 1024],
]

/** Tests of the contract of every store (src/values/store.ts). */
export function describeValueStore(factory: ValueStoreFactory): void {
  it.each(sizes)('a store keeps %s under its hash, and returns it', async (_what, size) => {
    const store = await factory.open()
    const bytes = randomBytes(size)
    const stored = await store.put(splitIntoPieces(bytes), neverAborted)
    expect(stored).toEqual({ sha256: keyOf(bytes), bytes: size })
    expect((await readAll(store, stored)).equals(bytes)).toBe(true)
    expect((await readAll(await factory.openAgain(), stored)).equals(bytes)).toBe(true)
  })

  it('a store keeps equal content once, and updates the time of its last use', async () => {
    const store = await factory.open()
    for (const size of [3, 9 * 1024 * 1024]) {
      const bytes = randomBytes(size)
      const { sha256 } = await store.put([bytes], neverAborted)
      const before = await store.stat(sha256, neverAborted)
      await waitForNextSecond(before?.usedAt ?? 0)
      await store.put([bytes], neverAborted)
      const after = await store.stat(sha256, neverAborted)
      expect(after?.bytes).toBe(size)
      expect(after?.usedAt).toBeGreaterThan(before?.usedAt ?? Infinity)
    }
    expect(await listAll(store)).toHaveLength(2)
  })

  it('a store accepts the same value from concurrent writers', async () => {
    const stores = await Promise.all([factory.open(), factory.openAgain(), factory.openAgain()])
    const bytes = randomBytes(2 * 1024 * 1024)
    const [store] = stores
    const puts = [...stores, ...stores, ...stores, ...stores].map((each) =>
      each.put(splitIntoPieces(bytes), neverAborted),
    )
    const keys = (await Promise.all(puts)).map(({ sha256 }) => sha256)
    expect(new Set(keys)).toEqual(new Set([keyOf(bytes)]))
    expect((await readAll(store, { sha256: keyOf(bytes), bytes: bytes.length })).equals(bytes)).toBe(true)
    expect(await listAll(store)).toHaveLength(1)
  })

  it('a store lists its values with the time of their last use', async () => {
    const store = await factory.open()
    const started = Date.now()
    const puts = await Promise.all(['a', 'bb', 'ccc'].map((text) => store.put([Buffer.from(text)], neverAborted)))
    const all = await listAll(store)
    const byKey = (one: StoredContent, other: StoredContent): number => (one.sha256 < other.sha256 ? -1 : 1)
    expect(all.map(({ sha256, bytes }) => ({ sha256, bytes })).sort(byKey)).toEqual(puts.toSorted(byKey))
    // S3 reports whole seconds.
    for (const { usedAt } of all) expect(usedAt).toBeGreaterThanOrEqual(started - 1_000)
  })

  it('a store removes a value unless it was used again', async () => {
    const store = await factory.open()
    const { sha256, bytes } = await store.put([Buffer.from('kept')], neverAborted)
    expect(await store.remove(sha256, neverAborted, Date.now() - 3_600_000)).toBe(false)
    expect(await readAll(store, { sha256, bytes })).toEqual(Buffer.from('kept'))
    expect(await store.remove(sha256, neverAborted, Date.now() + 60_000)).toBe(true)
    expect(await store.stat(sha256, neverAborted)).toBeUndefined()
    expect(await store.remove(sha256, neverAborted)).toBe(false)
  })

  it('a store reports a missing value', async () => {
    const store = await factory.open()
    await store.put([Buffer.from('another')], neverAborted)
    const absent = { sha256: keyOf(Buffer.from('absent')), bytes: 6 }
    await expect(readAll(store, absent)).rejects.toMatchObject({ code: 'VALUE_MISSING' })
    expect(await store.stat(absent.sha256, neverAborted)).toBeUndefined()
  })

  it.each(['', '../../../etc/passwd', 'A'.repeat(64), `${'a'.repeat(63)}/`, 'a'.repeat(65)])(
    'a store accepts only keys of 64 hex digits: %j',
    async (sha256) => {
      const store = await factory.open()
      await expect(readAll(store, { sha256, bytes: 1 })).rejects.toMatchObject({ code: 'VALUE_MISSING' })
      await expect(store.stat(sha256, neverAborted)).rejects.toMatchObject({ code: 'VALUE_MISSING' })
      await expect(store.remove(sha256, neverAborted)).rejects.toMatchObject({ code: 'VALUE_MISSING' })
    },
  )

  it('a store keeps nothing of content that fails, and reports the failure', async () => {
    const store = await factory.open()
    const broken = new Error('the tool stopped')
    async function* breaksOff() {
      yield randomBytes(3 * 1024 * 1024)
      throw broken
    }
    await expect(store.put(breaksOff(), neverAborted)).rejects.toBe(broken)
    expect(await listAll(store)).toEqual([])
  })

  it('a store stops when its signal is aborted', async () => {
    const store = await factory.open()
    const reason = new Error('enough')
    const stop = new AbortController()
    async function* endless() {
      yield randomBytes(1024)
      stop.abort(reason)
      for (;;) yield randomBytes(1024)
    }
    await expect(store.put(endless(), stop.signal)).rejects.toBe(reason)
    expect(await listAll(store)).toEqual([])
    const stored = await store.put([randomBytes(4 * 1024 * 1024)], neverAborted)
    const halfway = new AbortController()
    const reading = async (): Promise<void> => {
      for await (const piece of store.read(stored, halfway.signal)) if (piece.length > 0) halfway.abort(reason)
    }
    await expect(reading()).rejects.toBe(reason)
  })

  it('a store keeps a named object once, which is not a value', async () => {
    const stores = await Promise.all([factory.open(), factory.openAgain(), factory.openAgain()])
    const contents = stores.map((_store, index) => Buffer.from(`of writer ${index}`))
    const put = (store: ValueStore, content = Buffer.from('of a later writer')) =>
      store.putIfAbsent('an-object.1', content, neverAborted)
    const found = await Promise.all(stores.map((store, index) => put(store, contents[index])))
    const texts = new Set(found.map((bytes) => Buffer.from(bytes).toString()))
    expect(texts.size).toBe(1)
    const [first] = texts
    expect(contents.map(String)).toContain(first)
    const store = await factory.openAgain()
    expect(Buffer.from(await put(store)).toString()).toBe(first)
    expect(await listAll(store)).toEqual([])
  })

  it('a store can be closed twice', async () => {
    const store = await factory.open()
    await store.close()
    await store.close()
  })
}

/** Splits content into chunks. */
function* splitIntoPieces(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536)
}

/**
 * Settles when the clock shows a later second than `moment`, because S3 reports whole seconds. Waits some more, because
 * the clock of a file system lags some milliseconds behind.
 */
export async function waitForNextSecond(moment: number): Promise<void> {
  const end = (Math.floor(moment / 1000) + 1) * 1000 + 100
  while (Date.now() < end) await new Promise((tick) => setTimeout(tick, 20))
}
