import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import { schemaSize } from './schema-size.js'

it('counts the parts of a schema, including the targets of its references', () => {
  expect(schemaSize({ type: 'object', properties: { a: { type: 'string' } } })).toBe(3)
  const once: JsonObject = { properties: { a: { $ref: '#/$defs/d~1e' } }, $defs: { 'd/e': { enum: ['x'] } } }
  const twice: JsonObject = { ...once, properties: { a: { $ref: '#/$defs/d~1e' }, b: { $ref: '#/$defs/d~1e' } } }
  expect(schemaSize(twice) - schemaSize(once)).toBe(3)
  expect(schemaSize({ properties: { a: { $ref: '#/$defs/none/x' }, b: { $ref: 'https://example.com' } } })).toBe(4)
})

it('counts a recursive reference once, and counts the targets of references to references', () => {
  expect(schemaSize({ properties: { a: { $ref: '#' }, b: { $ref: '#' } } })).toBe(6)
  const level = (n: number): JsonObject => ({
    properties: { l: { $ref: `#/$defs/d${n}` }, r: { $ref: `#/$defs/d${n}` } },
  })
  const $defs = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`d${n}`, level(n + 1)]))
  expect(schemaSize({ ...level(0), $defs })).toBe(Number.MAX_VALUE)
})
