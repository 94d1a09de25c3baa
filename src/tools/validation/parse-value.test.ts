import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../definition/schemas.js'
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
const object = (properties: object): JsonSchema => ({ type: 'object', properties })
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
  ])('interrupts a slow check of a value: %s', async (_what, schema, value) => {
    const converted = z.fromJSONSchema(schema)
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

  it('interrupts a check in functions of a zod schema, and the schema works afterwards', async () => {
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
