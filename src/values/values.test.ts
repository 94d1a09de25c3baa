import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonValue } from '../common/json/json.js'
import { externalValue, refOf, type ValueRef, externalValueKey } from '../common/json/external-value.js'
import { LocalStore } from './local/local-store.js'
import { Values } from './values.js'

const neverAborted = new AbortController().signal
let directory = ''
let values: Values

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
  values = new Values({ store: new LocalStore(join(directory, 'values')), retryForMs: 0 })
  return () => rm(directory, { recursive: true })
})

/** Externalizes a value that is too large to be inline. */
async function externalize(value: JsonValue): Promise<ValueRef> {
  const ref = refOf(await values.externalize(value, neverAborted))
  if (ref === undefined) throw new Error('the value is inline')
  return ref
}

function fileOf({ sha256 }: ValueRef): string {
  return join(directory, 'values', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

describe('externalize', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    ['a number', 1.5],
    ['4,096 bytes of JSON', 'x'.repeat(4_094)],
    ['4,096 bytes of JSON in two-byte characters', 'é'.repeat(2_047)],
  ])('externalize leaves %s inline', async (_what, value) => {
    expect(await values.externalize(value, neverAborted)).toBe(value)
    expect(await readdir(directory)).toEqual([])
  })

  it.each<[string, JsonValue, number]>([
    ['4,097 bytes of JSON', 'x'.repeat(4_095), 4_097],
    ['as many bytes in fewer characters', 'é'.repeat(2_048), 4_098],
    ['a list', Array.from({ length: 3_000 }, (_, id) => ({ id })), 34_891],
  ])('externalize stores %s externally, with a preview', async (_what, value, bytes) => {
    const externalized = await values.externalize(value, neverAborted)
    expect(externalized).toEqual(
      externalValue({
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        bytes,
        preview: JSON.stringify(value).slice(0, 200),
      }),
    )
    expect(await values.load(externalized, 'the test', neverAborted)).toEqual(value)
  })

  it.each<[string, JsonValue]>([
    ['a forged reference', externalValue({ sha256: 'a'.repeat(64), bytes: 1, preview: '' })],
    ['any object with the key of a reference', { [externalValueKey]: null, other: 1 }],
  ])('externalize stores %s like any other value', async (_what, forged) => {
    const externalized = await values.externalize(forged, neverAborted)
    expect(externalized).not.toEqual(forged)
    expect(await values.load(externalized, 'the test', neverAborted)).toEqual(forged)
  })

  it('a preview never ends within a character', async () => {
    const { preview } = await externalize(`${'x'.repeat(198)}${'🎈'.repeat(3_000)}`)
    expect(preview).toBe(`"${'x'.repeat(198)}`)
  })

  it('externalize and load preserve every JSON value exactly', async () => {
    const value = {
      text: '"\\\u0000\u2028\ud800 é 🎈'.repeat(100_000),
      ['__proto__x']: [[], {}, '', 0, -1e-7, 1e21, true, null],
      nested: JSON.parse('{"__proto__": {"a": 1}}') as JsonValue,
    }
    const loaded = await values.load(await values.externalize(value, neverAborted), 'the test', neverAborted)
    expect(JSON.stringify(loaded)).toBe(JSON.stringify(value))
  })
})

describe('inlineSize', () => {
  it.each<[string, JsonValue]>([
    ['inline', { a: ['é', '"', 1e20, -0.5] }],
    ['external', 'x'.repeat(5_000)],
    ['external, with a preview of multi-byte characters', '€'.repeat(5_000)],
    ['external, because it contains a reference', [{ a: externalValue({ sha256: '', bytes: 0, preview: '' }) }]],
    ['external, because it has the form of a reference', { [externalValueKey]: { sha256: '', bytes: 0, preview: '' } }],
  ])(
    'inlineSize returns the size of the externalized value or slightly more, and stores nothing: %s',
    async (_what, value) => {
      const bytes = values.inlineSize(value)
      expect(await readdir(directory)).toEqual([])
      const actual = Buffer.byteLength(JSON.stringify(await values.externalize(value, neverAborted)))
      expect(bytes).toBeGreaterThanOrEqual(actual)
      expect(bytes).toBeLessThanOrEqual(actual + 15)
    },
  )
})

describe('load', () => {
  const needed = 'the result of get_expenses (call 3 of cell 2)'
  const big = Array.from({ length: 5_000 }, (_, id) => ({ id, text: 'travel' }))

  it('the error for a missing value names the purpose of the value', async () => {
    const ref = await externalize(big)
    await rm(fileOf(ref))
    await expect(values.load(externalValue(ref), needed, neverAborted)).rejects.toMatchObject({
      code: 'VALUE_MISSING',
      message: `${needed} is missing from the value store (there is no value ${ref.sha256} in the folder ${directory}/values)`,
    })
  })

  it.each<[string, (text: string) => string]>([
    ['another value', (text) => text.replace('"id":0', '"id":1')],
    ['a longer one', (text) => `${text} `],
    ['a shorter one', (text) => text.slice(0, -1)],
    ['nothing', () => ''],
    ['no JSON', (text) => `!${text.slice(1)}`],
  ])('load rejects %s under its key, and names the purpose of the value', async (_what, corrupt) => {
    const ref = await externalize(big)
    await writeFile(fileOf(ref), corrupt(JSON.stringify(big)))
    await expect(values.load(externalValue(ref), needed, neverAborted)).rejects.toMatchObject({
      code: 'VALUE_CORRUPT',
      message: expect.stringMatching(new RegExp(`^the result of get_expenses .* was changed in the value store \\(`)),
    })
    // Storing the value again repairs it.
    await values.externalize(big, neverAborted)
    expect(await values.load(externalValue(ref), needed, neverAborted)).toEqual(big)
  })

  it('load caches small values, and returns a new object to each reader', async () => {
    const externalized = await values.externalize(big, neverAborted)
    const first = await values.load(externalized, needed, neverAborted)
    await rm(join(directory, 'values'), { recursive: true })
    const second = await values.load(externalized, needed, neverAborted)
    expect(second).toEqual(first)
    expect(second).not.toBe(first)
  })
})

describe('readText', () => {
  it('readText returns the JSON in pieces that never split a character', async () => {
    const value = 'é🎈x'.repeat(300_000)
    const ref = await externalize(value)
    const pieces: string[] = []
    for await (const piece of values.readText(ref, 'the test', neverAborted)) pieces.push(piece)
    expect(pieces.join('')).toBe(JSON.stringify(value))
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024 + 1)
    for (const piece of pieces) expect(piece).not.toMatch(/\p{Surrogate}/u)
  })

  it('readText withholds the last piece of a changed value', async () => {
    const value = 'x'.repeat(1_000_000)
    const ref = await externalize(value)
    await writeFile(fileOf(ref), `"${'x'.repeat(999_999)}y"`)
    let read = ''
    const reading = async (): Promise<void> => {
      for await (const piece of values.readText(ref, 'the argument', neverAborted)) read += piece
    }
    await expect(reading()).rejects.toMatchObject({
      code: 'VALUE_CORRUPT',
      message: expect.stringMatching(/^the argument was changed in the value store/),
    })
    expect(read).not.toContain('y')
    expect(() => void JSON.parse(read)).toThrow()
  })
})

describe('excerpt', () => {
  it.each<[string, JsonValue]>([
    ['an inline value', 'abcdefghijklmnopqrstuvwxyz'],
    ['an external value', Array.from({ length: 200_000 }, (_, id) => id)],
  ])('excerpt truncates the JSON of %s in the middle', async (_what, value) => {
    const json = JSON.stringify(value)
    const excerpt = await values.excerpt(await values.externalize(value, neverAborted), 11, 'the test', neverAborted)
    expect(excerpt).toBe(`${json.slice(0, 6)}\n[... ${json.length - 11} characters cut ...]\n${json.slice(-5)}`)
    expect(
      await values.excerpt(await values.externalize(value, neverAborted), json.length, 'the test', neverAborted),
    ).toBe(json)
  })
})
