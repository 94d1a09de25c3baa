import { expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../common/json/json.js'
import { mayTakeNumbers } from './parameters.js'

const schemaOf = (type: z.ZodType) => z.toJSONSchema(z.object({ value: type }), { io: 'input' }) as JsonObject

it.each([
  ['a text', z.string()],
  ['a choice', z.enum(['a', 'b'])],
  ['a boolean or nothing', z.boolean().nullable()],
  ['a list of objects of texts', z.array(z.strictObject({ name: z.string() }))],
  ['a record of texts', z.record(z.string(), z.string())],
])('arguments with %s have no numbers', (_, type) => expect(mayTakeNumbers(schemaOf(type))).toBe(false))

it.each([
  ['an integer', z.int()],
  ['an optional number', z.number().optional()],
  ['a text or a number', z.union([z.string(), z.number()])],
  ['a list of numbers', z.array(z.number())],
  ['a list of objects with a number', z.array(z.object({ count: z.int() }))],
  ['a record of numbers', z.record(z.string(), z.number())],
  ['anything', z.unknown()],
  ['an object with any members', z.looseObject({})],
])('arguments with %s may have numbers', (_, type) => expect(mayTakeNumbers(schemaOf(type))).toBe(true))

it('arguments whose type is not named may have numbers', () => {
  expect(mayTakeNumbers({ type: 'object', properties: { value: { $ref: '#' } } })).toBe(true)
  expect(mayTakeNumbers({})).toBe(true)
  expect(mayTakeNumbers({ type: 'object' })).toBe(true)
  expect(mayTakeNumbers({ type: ['string', 'integer'] })).toBe(true)
})
