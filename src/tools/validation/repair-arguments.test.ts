import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import { readJsonInput } from '../definition/json-input.js'
import { parseArguments, parseArgumentsNow } from './check-arguments.js'

const text = { type: 'string' } as const
const filter = {
  type: 'object',
  properties: { since: text, until: text, sizes: { type: 'array', items: { type: 'integer' } } },
} as const

const schema: JsonObject = {
  type: 'object',
  properties: {
    id: text,
    note: text,
    filter: { $ref: '#/$defs/Filter' },
    ids: { type: 'array', items: text },
    count: { type: 'integer' },
    textOrList: { anyOf: [text, { type: 'array', items: text }] },
    listOrNull: { anyOf: [{ type: 'array', items: text }, { type: 'null' }] },
    nullable: { type: ['string', 'null'] },
    kind: { enum: ['a', 'b'] },
    filterOrNull: { anyOf: [{ $ref: '#/$defs/Filter' }, { type: 'null' }] },
    either: { anyOf: [filter, { type: 'object', properties: { since: { type: 'integer' } }, required: ['since'] }] },
    anything: {},
  },
  required: ['id'],
  $defs: { Filter: filter },
}

const { schema: input } = readJsonInput(schema)

const parse = (args: JsonObject) => parseArguments({ name: 'search', input, repairsArguments: true }, args)

it.each<readonly [what: string, given: JsonObject, repaired: JsonObject]>([
  ['an object as its JSON text', { filter: '{"since": "2026"}' }, { filter: { since: '2026' } }],
  ['a list as its JSON text', { ids: '["a", "b"]' }, { ids: ['a', 'b'] }],
  ['a text in a text', { filter: '{"sizes": "[1, 2]"}' }, { filter: { sizes: [1, 2] } }],
  ['a list that may be null, as its JSON text', { listOrNull: '["a"]' }, { listOrNull: ['a'] }],
  ['null for an option', { note: null, ids: null, filter: null, count: null, kind: null }, {}],
  ['null for an option of an object', { filter: { since: '1', until: null } }, { filter: { since: '1' } }],
  ['null in a JSON text', { filter: '{"since": null}' }, { filter: {} }],
  ['null for an option of an object that may be null', { filterOrNull: { since: null } }, { filterOrNull: {} }],
])('arguments of a model are repaired: %s', async (_what, given, repaired) => {
  const original = structuredClone(given)
  expect(await parse({ id: '1', ...given })).toEqual({ ok: true, value: { id: '1', ...repaired } })
  expect(given).toEqual(original)
})

it.each<readonly [what: string, args: JsonObject]>([
  ['a text that is JSON, where a text is allowed', { note: '{"a": 1}', textOrList: '["a"]', anything: '[1]' }],
  ['null where null is allowed', { nullable: null, listOrNull: null, filterOrNull: null, anything: null }],
])('arguments that fit stay as they are: %s', async (_what, args) => {
  expect(await parse({ id: '1', ...args })).toEqual({ ok: true, value: { id: '1', ...args } })
})

it.each<readonly [what: string, args: JsonObject, message: string]>([
  ['null for a member that is required', { id: null }, 'id: expected string, received null'],
  ['a number as a text', { id: '1', count: '3' }, 'count: expected number, received string'],
  ['null in a list', { id: '1', ids: ['a', null] }, 'ids[1]: expected string, received null'],
  ['a text that is no JSON', { id: '1', filter: '{since: 1}' }, 'filter: expected object, received string'],
  ['a list where an object is expected', { id: '1', filter: '[1]' }, 'filter: expected object, received string'],
  ['JSON that does not fit', { id: '1', filter: '{"since": 1}' }, 'filter: expected object, received string'],
  ['null that two alternatives read differently', { id: '1', either: { since: null, until: '1' } }, 'either: '],
  ['an unknown member', { id: '1', other: null }, 'Unrecognized key: "other"'],
  ['one member of two', { id: '1', ids: '["a"]', count: 'x' }, 'ids: expected array, received string'],
  ['nesting without end', { id: '1', ids: '['.repeat(100_000) + ']'.repeat(100_000) }, 'ids: expected array'],
  ['more values than a call may have', { id: '1', ids: `["a"${',"a"'.repeat(20_000)}]` }, 'ids: expected array'],
])('arguments are refused as they were sent: %s', async (_what, args, message) => {
  expect(await parse(args)).toMatchObject({
    ok: false,
    refusal: { code: 'TOOL_INPUT_INVALID', message: expect.stringContaining(message) },
  })
})

it('a member named __proto__ of a JSON text changes no prototype', async () => {
  const { schema: open } = readJsonInput({ type: 'object', properties: { map: { type: 'object' } } })
  const parsed = await parseArguments(
    { name: 'open', input: open, repairsArguments: true },
    {
      map: '{"__proto__": {"polluted": true}}',
    },
  )
  expect(parsed).toMatchObject({ ok: true })
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

it('arguments of a tool of the configuration are not repaired', async () => {
  expect(await parseArguments({ name: 'search', input }, { id: '1', ids: '["a"]' })).toMatchObject({ ok: false })
})

it('a check without waiting repairs arguments, too', () => {
  const tool = { name: 'search', input, repairsArguments: true } as Parameters<typeof parseArgumentsNow>[0]
  expect(parseArgumentsNow(tool, { id: '1', ids: '["a"]' })).toEqual({ ok: true, value: { id: '1', ids: ['a'] } })
})
