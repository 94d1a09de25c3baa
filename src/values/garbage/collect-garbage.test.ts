import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { collectGarbage } from './collect-garbage.js'
import { KeyFinder } from './key-finder.js'
import { LocalStore } from '../local/local-store.js'

const signal = new AbortController().signal
/** This time is later than every put of the tests. */
const anHourFromNow = Date.now() + 3_600_000
let directory = ''
let store: LocalStore

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
  store = new LocalStore(directory)
  return () => rm(directory, { recursive: true })
})

async function put(text: string): Promise<string> {
  return (await store.put([Buffer.from(text)], signal)).sha256
}

async function keys(): Promise<ReadonlySet<string>> {
  const all = new Set<string>()
  for await (const { sha256 } of store.list(signal)) all.add(sha256)
  return all
}

function collect(roots: readonly string[], options: { unusedSince?: number; dryRun?: boolean } = {}) {
  async function* bytes() {
    for (const root of roots) yield Buffer.from(root)
  }
  return collectGarbage({ store, roots: bytes, unusedSince: anHourFromNow, dryRun: false, signal, ...options })
}

describe('collectGarbage', () => {
  it('garbage collection keeps values to which roots refer directly or indirectly, and removes others', async () => {
    const first = await put('{"base":null}')
    const second = await put(`{"base":{"sha256":"${first}"}}`)
    const third = await put(`{"base":{"sha256":"${second}"}}${' '.repeat(1_000_000)}`)
    const other = await put('nobody needs this')
    await put(`{"base":{"sha256":"${other}"}}`)
    const report = await collect([`{"ptc.value":{"sha256":"${third}","bytes":1}}`])
    expect(report).toMatchObject({ values: { count: 5 }, removed: { count: 2 }, unreadable: 0 })
    expect(await keys()).toEqual(new Set([first, second, third]))
  })

  it('garbage collection removes no recent value, and reads no roots if all values are recent', async () => {
    await put('new')
    const unusedSince = Date.now() - 3_600_000
    const roots = (): never => {
      throw new Error('the roots were read')
    }
    const report = await collectGarbage({ store, roots, unusedSince, dryRun: false, signal })
    expect(report.removed).toEqual({ count: 0, bytes: 0 })
    expect(await keys()).toHaveProperty('size', 1)
  })

  it('a value that is put again during garbage collection stays', async () => {
    const again = await put('put again')
    async function* roots() {
      // This put is later than `unusedSince`.
      await put('put again')
      yield Buffer.from('')
    }
    const unusedSince = Date.now()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await collectGarbage({ store, roots, unusedSince, dryRun: false, signal })).toMatchObject({
      removed: { count: 0 },
    })
    expect(await keys()).toEqual(new Set([again]))
  })

  it('garbage collection with dryRun reports values and removes nothing', async () => {
    await put('nobody needs this')
    expect(await collect([], { dryRun: true })).toMatchObject({ removed: { count: 1, bytes: 17 } })
    expect(await keys()).toHaveProperty('size', 1)
  })

  it('garbage collection removes nothing when a root cannot be read', async () => {
    await put('perhaps somebody needs this')
    const gone = new PtcError('TEMPORAL_UNREACHABLE', 'gone')
    async function* roots() {
      yield Buffer.from('')
      throw gone
    }
    const collecting = collectGarbage({ store, roots, unusedSince: anHourFromNow, dryRun: false, signal })
    await expect(collecting).rejects.toBe(gone)
    expect(await keys()).toHaveProperty('size', 1)
  })

  it('garbage collection keeps and counts a corrupt value with references', async () => {
    const key = await put('as it was')
    await writeFile(join(directory, key.slice(0, 2), key.slice(2, 4), key), 'as it is ')
    expect(await collect([key])).toMatchObject({ removed: { count: 0 }, unreadable: 1 })
    expect(await keys()).toEqual(new Set([key]))
  })
})

describe('KeyFinder', () => {
  const key = '0123456789abcdef'.repeat(4)

  it.each<[string, readonly string[]]>([
    ['alone', [key]],
    ['split into two pieces', [`"sha256":"${key.slice(0, 20)}`, `${key.slice(20)}"`]],
    ['split into many pieces', Array.from(`{${key}}`)],
    ['with hex digits around it', [`beef${key}cafe`]],
    ['beside bytes that are not UTF-8', [`\u0000\u00ff\u001a@${key}`, '\u0012']],
  ])('KeyFinder finds a key %s', (_what, pieces) => {
    const finder = new KeyFinder((text) => text === key)
    const found = pieces.flatMap((piece) => [...finder.find(Buffer.from(piece, 'latin1'))])
    expect(new Set(found)).toEqual(new Set([key]))
  })

  it('KeyFinder finds no key in similar text', () => {
    const finder = new KeyFinder(() => true)
    expect([...finder.find(Buffer.from(`${key.slice(1)} ${key.slice(1)}g ${key.toUpperCase().slice(0, 63)}`))]).toEqual(
      [],
    )
  })
})
