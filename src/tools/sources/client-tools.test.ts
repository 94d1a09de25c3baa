import { expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import type { ClientTool } from '../../common/calls/client-tools.js'
import { checkClientSchema, clientRegistry } from './client-tools.js'
import { describeCall } from '../calls/describe-call.js'

const ask: ClientTool = {
  name: 'ask',
  description: '',
  inputSchema: {
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^(a+)+$' }, n: { type: 'integer' } },
    patternProperties: { '^x': { type: 'string', pattern: '^(b+)+$' } },
    additionalProperties: false,
    required: ['n'],
  },
  allowedCallers: ['code_execution'],
}

it('documents client tools as functions that return text, and defers their calls', () => {
  const registry = clientRegistry([ask])
  expect(registry.toolConfigs()).toMatchObject([{ name: 'ask', deferred: { expiresMs: 604_800_000 } }])
  const [documentation] = registry.documentation()
  expect(documentation?.stub).toContain('async def ask(')
  expect(documentation?.stub).toContain('-> str')
  expect(documentation?.description).toContain('json.loads')
  expect(registry.outputSchemas()).toEqual({ ask: { type: 'string' } })
})

it('client tools check arguments by the schema, but match none of its patterns', () => {
  const registry = clientRegistry([ask])
  const refusalOf = (args: object) =>
    describeCall(registry, { argumentBytes: 10_000 }, { tool: 'ask', arguments: { ...args } }, 'code_execution', true)
      .refused
  expect(refusalOf({ n: 1, pattern: `${'a'.repeat(50)}!` })).toBeNull()
  expect(refusalOf({ n: 'one' })).toMatchObject({ status: 'invalid_arguments' })
  expect(refusalOf({ n: 1, x: `${'b'.repeat(50)}!` })).toBeNull()
  expect(refusalOf({ n: 1, x: 2 })).toMatchObject({ status: 'invalid_arguments' })
})

it.each<[string, JsonObject, readonly JsonObject[], readonly boolean[]]>([
  [
    'at the root',
    { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
    [{ 'x-a': '1' }, {}],
    [true, true],
  ],
  [
    'in a member without others',
    labels({ patternProperties: { '^[a-z]+$': { type: 'string' } }, additionalProperties: false }),
    [{ labels: { a: 'b' } }, { labels: {} }, { labels: { a: 1 } }, {}],
    [true, true, false, false],
  ],
  [
    'in a member with others',
    labels({ patternProperties: { '^a': { type: 'integer' } }, additionalProperties: { type: 'string' } }),
    [{ labels: { a: 1, b: 'x' } }, { labels: { a: true } }],
    [true, false],
  ],
  [
    'in a member that lists names',
    labels({ properties: { b: { type: 'boolean' } }, patternProperties: { '^a': {} }, additionalProperties: false }),
    [{ labels: { a: 1, b: true } }, { labels: { b: 1 } }],
    [true, false],
  ],
  [
    'that forbid names',
    labels({ patternProperties: { '^_': false }, additionalProperties: false }),
    [{ labels: {} }, { labels: { a: 1 } }],
    [true, false],
  ],
  [
    'behind a reference of OpenAPI',
    {
      ...labels({ $ref: '#/components/schemas/L' }),
      components: { schemas: { L: { type: 'object', patternProperties: { '^(a+)+$': {} } } } },
    },
    [{ labels: { [`${'a'.repeat(50)}!`]: 1 } }],
    [true],
  ],
  [
    'as names of members and in values',
    {
      type: 'object',
      properties: { pattern: { type: 'string' }, patternProperties: { const: { pattern: 'x' } } },
    },
    [{ pattern: 'x', patternProperties: { pattern: 'x' } }, { patternProperties: {} }],
    [true, false],
  ],
])('takes a tool with patterns %s', (_where, inputSchema, values, expected) => {
  const registry = clientRegistry([{ ...ask, inputSchema }])
  const fits = values.map(
    (args) =>
      describeCall(registry, { argumentBytes: 10_000 }, { tool: 'ask', arguments: args }, 'code_execution', true)
        .refused === null,
  )
  expect(fits).toEqual(expected)
})

it('shows a schema to the model as it is written', () => {
  const properties = {
    zip: { type: 'string', pattern: '^[0-9]{5}$' },
    labels: { type: 'object', patternProperties: { '^x-': { type: 'string', format: 'date-time' } } },
  }
  for (const allowedCallers of [['direct'], ['code_execution']] as const) {
    const [documentation] = clientRegistry([
      { ...ask, allowedCallers, inputSchema: { type: 'object', properties, patternProperties: { '^y': {} } } },
    ]).documentation()
    expect(documentation?.inputSchema).toMatchObject({ properties, patternProperties: { '^y': {} } })
    expect(documentation?.stub).toContain('zip: (like ^[0-9]{5}$')
  }
})

it('documents a tool with nothing but patterns of names as a function of a dict', () => {
  const inputSchema = { type: 'object', patternProperties: { '^x-': { type: 'string' } } }
  const [documentation] = clientRegistry([{ ...ask, inputSchema }]).documentation()
  expect(documentation?.stub).toContain('async def ask(arguments: dict[str, str]) -> str:')
  expect(documentation?.stub).toContain('Takes one dict.')
})

function labels(schema: JsonObject): JsonObject {
  const member = '$ref' in schema ? schema : { type: 'object', ...schema }
  return { type: 'object', properties: { labels: member }, required: ['labels'] }
}

it('has limits, and takes no name twice', () => {
  expect(() => clientRegistry(Array.from({ length: 101 }, (_, n) => ({ ...ask, name: `t${n}` })))).toThrow(
    'at most 100',
  )
  expect(() => clientRegistry([{ ...ask, description: 'x'.repeat(300_000) }])).toThrow('bytes of JSON')
  const level = (n: number) => ({
    type: 'object',
    properties: { l: { $ref: `#/$defs/d${n}` }, r: { $ref: `#/$defs/d${n}` } },
  })
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, level(n + 1)]))
  expect(() => clientRegistry([{ ...ask, inputSchema: { ...level(0), $defs } }])).toThrow('more than 10000 parts')
  expect(() => clientRegistry([ask, ask])).toThrow('two tools are named ask')
})

it('counts the parts of schemas over references of all kinds, and reads each once', () => {
  const level = (to: (n: number) => string, n: number) => ({ allOf: [{ $ref: to(n) }, { $ref: to(n) }] })
  for (const to of [(n: number) => `#d${n}`, (n: number) => `d${n}.json`, (n: number) => `#/%24defs/d${n}`]) {
    const named = (n: number) => ({ $anchor: `d${n}`, ...(to(0) === 'd0.json' && { $id: `d${n}.json` }) })
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `d${n}`,
        n === 39 ? { ...named(n), type: 'object' } : { ...named(n), ...level(to, n + 1) },
      ]),
    )
    const startedAt = performance.now()
    expect(() => clientRegistry([{ ...ask, inputSchema: { ...level(to, 0), $defs } }])).toThrow('more than 10000 parts')
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  }
  const chain = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, n) => [
      `a${n}`,
      n === 2_999 ? { type: 'string' } : { $ref: `#/$defs/a${n + 1}` },
    ]),
  )
  const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, { $ref: '#/$defs/a0' }]))
  const startedAt = performance.now()
  expect(() => clientRegistry([{ ...ask, inputSchema: { type: 'object', properties, $defs: chain } }])).toThrow()
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

it("accepts client tools with names that code can't use", () => {
  const registry = clientRegistry([
    { ...ask, name: 'math.factorial' },
    { ...ask, name: 'get-weather' },
  ])
  expect(registry.signatures()).toMatchObject([
    { name: 'math_factorial', tool: 'math.factorial' },
    { name: 'get_weather', tool: 'get-weather' },
  ])
})

it('tools that only the model calls may have any name that the API accepts', () => {
  const names = ['get-weather', 'print', 'class', '0', 'execute_code', 'x'.repeat(128)]
  const direct = (name: string): ClientTool => ({ ...ask, name, allowedCallers: ['direct'] })
  const registry = clientRegistry(names.map(direct))
  expect(registry.names).toEqual(names)
  expect(registry.documentation().map(({ name }) => name)).toEqual(names)
  for (const name of ['', 'a.b', 'a b', 'é', '__proto__', 'x'.repeat(129)])
    expect(() => clientRegistry([direct(name)]), name).toThrow(expect.objectContaining({ code: 'TOOL_NAME_INVALID' }))
  expect(() => clientRegistry([{ ...direct('get-it'), inputSchema: { type: 'string' } }])).toThrow('get-it')
})

it('limits the schema of an answer like those of tools, over references of all kinds', () => {
  const level = (n: number) => ({ allOf: [{ $ref: `#d${n}` }, { $ref: `#d${n}` }] })
  const definitions = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`d${n}`, { $anchor: `d${n}`, ...(n < 39 && level(n + 1)) }]),
  )
  expect(() => checkClientSchema({ ...level(0), definitions })).toThrow('more than 10000 parts')
  expect(() => checkClientSchema({ type: 'object', properties: { a: { type: 'string' } } })).not.toThrow()
})
