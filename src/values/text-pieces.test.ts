import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../common/json/json.js'
import { stringifyInPieces } from './text-pieces.js'

describe('stringifyInPieces', () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? [] : [nested(depth - 1)])
  const values: readonly JsonValue[] = [
    null,
    -0.5,
    'é😀\u2028"\n',
    { a: [1, { b: null }], '': true },
    { text: 'x'.repeat(500_000), rows: Array.from({ length: 20_000 }, (_, row) => ({ row })) },
    nested(2_000),
  ]
  it.each(values.map((value) => [JSON.stringify(value).slice(0, 40), value]))(
    'stringifyInPieces yields the JSON of %s',
    (_name, value) => {
      expect([...stringifyInPieces(value)].join('')).toBe(JSON.stringify(value))
    },
  )

  it('stringifyInPieces yields a small value at once, and a large one in pieces of at most 128 Ki characters', () => {
    expect([...stringifyInPieces({ rows: [1, 'two', null] })]).toEqual(['{"rows":[1,"two",null]}'])
    const pieces = [...stringifyInPieces(Array.from({ length: 100_000 }, (_, row) => row))]
    expect(pieces.length).toBeGreaterThan(4)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(128 * 1_024)
  })
})
