import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonValue } from '../common/json.js'
import { heldElsewhere, refOf, type ValueRef, valueKey } from '../common/values.js'
import { LocalStore } from './local-store.js'
import { Values } from './values.js'

const forever = new AbortController().signal
let directory = ''
let values: Values

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
  values = new Values({ store: new LocalStore(join(directory, 'values')), patienceMs: 0 })
  return () => rm(directory, { recursive: true })
})

/** Held by reference, or the test is wrong. */
async function keptElsewhere(value: JsonValue): Promise<ValueRef> {
  const ref = refOf(await values.hold(value, forever))
  if (ref === undefined) throw new Error('it is in place')
  return ref
}

function fileOf({ sha256 }: ValueRef): string {
  return join(directory, 'values', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

describe('hold', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    ['a number', 1.5],
    ['4,096 bytes of JSON', 'x'.repeat(4_094)],
    ['4,096 bytes of JSON in two-byte characters', 'é'.repeat(2_047)],
  ])('leaves %s in place', async (_what, value) => {
    expect(await values.hold(value, forever)).toBe(value)
    expect(await readdir(directory)).toEqual([])
  })

  it.each<[string, JsonValue, number]>([
    ['4,097 bytes of JSON', 'x'.repeat(4_095), 4_097],
    ['as many bytes in fewer characters', 'é'.repeat(2_048), 4_098],
    ['a list', Array.from({ length: 3_000 }, (_, id) => ({ id })), 34_891],
  ])('keeps %s elsewhere, with a preview', async (_what, value, bytes) => {
    const held = await values.hold(value, forever)
    expect(held).toEqual(
      heldElsewhere({
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        bytes,
        preview: JSON.stringify(value).slice(0, 200),
      }),
    )
    expect(await values.load(held, 'the test', forever)).toEqual(value)
  })

  it.each<[string, JsonValue]>([
    ['a made-up reference', heldElsewhere({ sha256: 'a'.repeat(64), bytes: 1, preview: '' })],
    ['anything with its key', { [valueKey]: null, other: 1 }],
  ])('takes %s for what it is: a value like any other', async (_what, forged) => {
    const held = await values.hold(forged, forever)
    expect(held).not.toEqual(forged)
    expect(await values.load(held, 'the test', forever)).toEqual(forged)
  })

  it('keeps a preview whole where a character would be cut in two', async () => {
    const { preview } = await keptElsewhere(`${'x'.repeat(198)}${'🎈'.repeat(3_000)}`)
    expect(preview).toBe(`"${'x'.repeat(198)}🎈`)
  })

  it('keeps what JSON can carry, exactly', async () => {
    const value = {
      text: '"\\\u0000\u2028\ud800 é 🎈'.repeat(100_000),
      ['__proto__x']: [[], {}, '', 0, -1e-7, 1e21, true, null],
      nested: JSON.parse('{"__proto__": {"a": 1}}') as JsonValue,
    }
    const loaded = await values.load(await values.hold(value, forever), 'the test', forever)
    expect(JSON.stringify(loaded)).toBe(JSON.stringify(value))
  })
})

describe('heldBytes', () => {
  it.each<[string, JsonValue]>([
    ['in place', { a: ['é', '"', 1e20, -0.5] }],
    ['elsewhere', 'x'.repeat(5_000)],
    ['elsewhere, with a preview of long characters', '€'.repeat(5_000)],
    ['elsewhere, because it looks like a reference', { [valueKey]: { sha256: '', bytes: 0, preview: '' } }],
  ])('says what hold gives, or a few more, and stores nothing: %s', async (_where, value) => {
    const bytes = values.heldBytes(value)
    expect(await readdir(directory)).toEqual([])
    const held = Buffer.byteLength(JSON.stringify(await values.hold(value, forever)))
    expect(bytes).toBeGreaterThanOrEqual(held)
    expect(bytes).toBeLessThanOrEqual(held + 15)
  })
})

describe('load', () => {
  const needed = 'the result of get_expenses (call 3 of cell 2)'
  const big = Array.from({ length: 5_000 }, (_, id) => ({ id, text: 'travel' }))

  it('names what a missing value was needed for', async () => {
    const ref = await keptElsewhere(big)
    await rm(fileOf(ref))
    await expect(values.load(heldElsewhere(ref), needed, forever)).rejects.toMatchObject({
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
  ])('refuses %s under its key, and names what needed it', async (_what, spoil) => {
    const ref = await keptElsewhere(big)
    await writeFile(fileOf(ref), spoil(JSON.stringify(big)))
    await expect(values.load(heldElsewhere(ref), needed, forever)).rejects.toMatchObject({
      code: 'VALUE_CORRUPT',
      message: expect.stringMatching(new RegExp(`^the result of get_expenses .* was changed in the value store \\(`)),
    })
    // Made again, it is whole again.
    await values.hold(big, forever)
    expect(await values.load(heldElsewhere(ref), needed, forever)).toEqual(big)
  })

  it('keeps small values that were read in memory, and gives each reader one of its own', async () => {
    const held = await values.hold(big, forever)
    const first = await values.load(held, needed, forever)
    await rm(join(directory, 'values'), { recursive: true })
    const second = await values.load(held, needed, forever)
    expect(second).toEqual(first)
    expect(second).not.toBe(first)
  })
})

describe('readText', () => {
  it('gives the JSON in pieces that never cut a character in two', async () => {
    const value = 'é🎈x'.repeat(300_000)
    const ref = await keptElsewhere(value)
    const pieces: string[] = []
    for await (const piece of values.readText(ref, 'the test', forever)) pieces.push(piece)
    expect(pieces.join('')).toBe(JSON.stringify(value))
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024 + 1)
    for (const piece of pieces) expect(piece).not.toMatch(/\p{Surrogate}/u)
  })

  it('withholds the last piece of a value that was changed', async () => {
    const value = 'x'.repeat(1_000_000)
    const ref = await keptElsewhere(value)
    await writeFile(fileOf(ref), `"${'x'.repeat(999_999)}y"`)
    let read = ''
    const reading = async (): Promise<void> => {
      for await (const piece of values.readText(ref, 'the argument', forever)) read += piece
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
    ['in place', 'abcdefghijklmnopqrstuvwxyz'],
    ['kept elsewhere', Array.from({ length: 200_000 }, (_, id) => id)],
  ])('of a value %s is its head, its tail, and how much is missing', async (_what, value) => {
    const json = JSON.stringify(value)
    const excerpt = await values.excerpt(await values.hold(value, forever), 11, 'the test', forever)
    expect(excerpt).toBe(`${json.slice(0, 6)}\n[... ${json.length - 11} characters cut ...]\n${json.slice(-5)}`)
    expect(await values.excerpt(await values.hold(value, forever), json.length, 'the test', forever)).toBe(json)
  })
})
