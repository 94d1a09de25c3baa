import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent } from './index.js'

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

/** The worker checks the JSON Schema of the zod schema: both must accept and refuse the same JSON. */
it.each([
  ['nested', z.object({ a: z.object({ b: z.int().max(3) }) }), { a: { b: 3 } }, { a: { b: 4 } }],
  ['recursive', tree, { name: 'a', children: [{ name: 'b', children: [] }] }, { name: 'a', children: [{ name: 'b' }] }],
  [
    'discriminated',
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('a'), n: z.int() }),
      z.object({ type: z.literal('b'), s: z.string() }),
    ]),
    { type: 'b', s: '' },
    { type: 'b', n: 1 },
  ],
  ['a tuple', z.tuple([z.string(), z.number()]), ['a', 1], ['a', 'b']],
  ['a record', z.record(z.string(), z.boolean()), { a: true }, { a: 1 }],
  ['a date and time', z.iso.datetime(), '2026-11-24T16:00:00Z', 'today'],
  ['an enumeration', z.enum(['low', 'high']), 'low', 'middle'],
  ['a default and an optional member', z.object({ a: z.int().default(1), b: z.string().optional() }), {}, { b: 1 }],
  ['null', z.object({ a: z.string().nullable() }), { a: null }, {}],
  ['strict', z.strictObject({ a: z.int() }), { a: 1 }, { a: 1, b: 2 }],
] as const)('checks %s by its JSON Schema', (_name, output: z.ZodType, valid, invalid) => {
  const { outputSchema = {} } = defineAgent({ name: 'a', instructions: 'You answer.', output })
  const checked = z.fromJSONSchema(outputSchema)
  for (const schema of [output, checked]) {
    expect(schema.safeParse(valid).success).toBe(true)
    expect(schema.safeParse(invalid).success).toBe(false)
  }
})
