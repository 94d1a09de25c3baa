import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../definition/schemas.js'
import { inheritedNamesOf } from './inherited-members.js'
import { parseValue, parseValueNow } from './parse-value.js'

/** The longest time for which a check blocks the event loop: a second attempt has 1 s, on a busy machine. */
const maxMs = 2_500

async function timed<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const startedAt = performance.now()
  const result = await work()
  expect(performance.now() - startedAt).toBeLessThan(maxMs)
  return result
}

const options = Array.from({ length: 2_000 }, (_, n) => ({
  type: 'object',
  properties: { kind: { const: `k${n}` }, value: { type: 'string' } },
  required: ['kind', 'value'],
}))
const items = Array.from({ length: 3_000 }, () => ({ kind: 'none', value: 1 }))
const listOf = (schema: JsonSchema): JsonSchema => ({ type: 'array', items: schema })
const object = (properties: object, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
})
const wide = (prefix: string, count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, { type: 'string' }]))
const deep = (depth: number): unknown => (depth === 0 ? 1 : { next: deep(depth - 1) })
const next = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } }

describe('the check of a value', () => {
  it.each<[string, JsonSchema, unknown]>([
    ['a union of 2,000 objects', listOf({ anyOf: options }), items],
    ['a union of which one option fits', listOf({ oneOf: options }), items.map((item) => ({ ...item, kind: 'k1999' }))],
    [
      'unions within unions',
      listOf({ anyOf: Array.from({ length: 50 }, () => ({ anyOf: options.slice(0, 50) })) }),
      items,
    ],
    ['intersections', listOf({ allOf: options.slice(0, 200) }), items.map(() => ({ kind: 'none' }))],
    [
      'a recursive intersection, which doubles its issues at each level',
      { $ref: '#/$defs/Node', $defs: { Node: { allOf: [next, next] } } },
      deep(18),
    ],
    [
      'patterns of property names',
      listOf({
        type: 'object',
        patternProperties: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`^k.*${n}$`, {}])),
        additionalProperties: false,
      }),
      Array.from({ length: 3_000 }, () => ({ [`k${'0'.repeat(100)}`]: 1 })),
    ],
    [
      'a pattern with exponential time',
      object({ text: { type: 'string', pattern: '^(a+)+$' } }),
      { text: `${'a'.repeat(50)}!` },
    ],
    [
      'a property name that is matched in exponential time',
      { type: 'object', patternProperties: { '^(a+)+$': {} } },
      { [`${'a'.repeat(50)}!`]: 1 },
    ],
    [
      'an enumeration of 100,000 mixed values',
      listOf({ enum: [1, ...Array.from({ length: 100_000 }, (_, n) => `v${n}`)] }),
      Array.from({ length: 3_000 }, () => 'none'),
    ],
    ['a search for an element', listOf({ type: 'array', contains: { anyOf: options } }), [items]],
    [
      'required members that rows lack',
      listOf(object(wide('r', 500), Object.keys(wide('r', 500)))),
      Array.from({ length: 1_000 }, () => ({})),
    ],
    ['optional members that rows lack', listOf(object(wide('o', 2_000))), Array.from({ length: 5_000 }, () => ({}))],
    [
      'required members of the values of a map',
      { type: 'object', additionalProperties: object(wide('r', 500), Object.keys(wide('r', 500))) },
      Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, {}])),
    ],
  ])('is interrupted: %s', async (_what, schema, value) => {
    const converted = z.fromJSONSchema(schema)
    inheritedNamesOf(converted) // once for each schema, when its tool is defined
    const interrupted = {
      ok: false,
      isUndecided: true,
      issues: expect.stringMatching(/^- the check took more than \d+ ms/),
    }
    expect(await timed(() => parseValueNow(converted, value))).toEqual(interrupted)
  })

  it.each<[string, JsonSchema, unknown, boolean]>([
    [
      '20,000 distinct items',
      { ...listOf({}), uniqueItems: true },
      Array.from({ length: 19_000 }, (_, n) => ({ n })),
      true,
    ],
    [
      'recursion to a depth of 150',
      { $ref: '#/$defs/Node', $defs: { Node: { anyOf: [next, next] } } },
      deep(150),
      false,
    ],
    [
      'an enumeration of 100,000 texts',
      listOf({ enum: Array.from({ length: 100_000 }, (_, n) => `v${n}`) }),
      ['none', 'none'],
      false,
    ],
    [
      'long texts with formats',
      listOf({ anyOf: ['email', 'uri', 'date-time', 'ipv6'].map((format) => ({ type: 'string', format })) }),
      ['a@'.repeat(60_000)],
      false,
    ],
  ])('does not interrupt the check of a value: %s', async (_what, schema, value, fits) => {
    const converted = z.fromJSONSchema(schema)
    const parsed = await timed(() => parseValueNow(converted, value))
    expect(parsed.ok).toBe(fits)
    expect(parsed).not.toHaveProperty('isUndecided')
  })

  it('of a wide schema lists the issues of a small value, and takes a value that fits', () => {
    const row = z.object(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, z.string()])))
    const fitting = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, 'x']))
    const rows = (count: number, value: object) => Array.from({ length: count }, () => value)
    expect(parseValueNow(z.array(row), rows(1, {}))).toEqual({
      ok: false,
      issues: expect.stringContaining('… and 90 more'),
    })
    expect(parseValueNow(z.array(row), rows(100, fitting))).toEqual({ ok: true, value: rows(100, fitting) })
  })

  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'])(
    'takes a member named %s for missing when it is',
    async (name) => {
      const optional = z.object({ n: z.int(), [name]: z.string().optional() })
      const recursive: z.ZodType = z.lazy(() => z.object({ [name]: z.string().optional(), next: recursive.optional() }))
      const json = z.fromJSONSchema({ type: 'object', properties: { [name]: { type: 'string' } } })
      const schemas: readonly (readonly [z.ZodType, unknown])[] = [
        [optional, { n: 1 }],
        [z.array(optional.nullable()), [{ n: 1 }, null]],
        [z.union([z.string(), z.record(z.string(), optional)]), { a: { n: 1 } }],
        [recursive, { next: { next: {} } }],
        [json, {}],
        [z.object({ a: z.string() }).and(json), { a: 'x' }],
        [json.pipe(z.unknown()), {}],
        [z.record(z.enum([name]), z.string().optional()), {}],
      ]
      for (const [schema, value] of schemas) {
        expect(parseValueNow(schema, value)).toEqual({ ok: true, value })
        expect(await parseValue(schema, value)).toEqual({ ok: true, value })
      }
      const given = { n: 1, [name]: 'x' }
      expect(parseValueNow(optional, given)).toEqual({ ok: true, value: given })
      expect(parseValueNow(z.object({ [name]: z.string() }), {})).toMatchObject({
        issues: `- ${name}: expected string, received undefined`,
      })
    },
  )

  it('gives back ordinary objects, and leaves the value and instances of classes as they are', async () => {
    const schema = z.object({ constructor: z.string().optional(), any: z.unknown() })
    const shared = { a: [{ b: 1 }] }
    const date = new Date(0)
    const value = { any: [shared, shared, date, Object.assign(Object.create(null), { c: 1 })] }
    for (const parsed of [parseValueNow(schema, value), await parseValue(schema, value)]) {
      if (!parsed.ok) throw new Error(parsed.issues)
      const [first, second, last, bare] = parsed.value.any as readonly [typeof shared, unknown, Date, object]
      expect(parsed.value).toEqual(value)
      expect(first).toBe(second)
      expect(first).not.toBe(shared)
      expect(last).toBe(date)
      for (const each of [first, first.a[0], bare]) expect(Object.getPrototypeOf(each)).toBe(Object.prototype)
    }
    expect(Object.getPrototypeOf(value.any[3])).toBeNull()
  })

  it('is interrupted in functions of a zod schema, and the schema works afterwards', async () => {
    const endless = z.object({ n: z.int() }).refine(({ n }) => {
      let count = n
      while (count > 1) count += 1
      return true
    })
    expect(await timed(() => parseValue(endless, { n: 2 }))).toMatchObject({ ok: false, isUndecided: true })
    expect(await parseValue(endless, { n: 1 })).toEqual({ ok: true, value: { n: 1 } })
  })

  it('parses defaults, transforms and asynchronous checks, and passes on errors of a check', async () => {
    const schema = z.object({ n: z.string().transform(Number).default(7) })
    expect(parseValueNow(schema, {})).toEqual({ ok: true, value: { n: 7 } })
    const slow = z.string().refine((text) => Promise.resolve(text === 'x'))
    expect(await parseValue(slow, 'x')).toEqual({ ok: true, value: 'x' })
    expect(await parseValue(slow, 'y')).toMatchObject({ ok: false, issues: expect.stringContaining('Invalid input') })
    expect(() => parseValueNow(slow, 'x')).toThrow(z.core.$ZodAsyncError)
    const broken = z.string().refine(() => {
      throw new TypeError('broken')
    })
    expect(() => parseValueNow(broken, 'x')).toThrow(new TypeError('broken'))
    await expect(parseValue(broken, 'x')).rejects.toThrow(new TypeError('broken'))
  })
})
