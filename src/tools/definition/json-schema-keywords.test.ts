import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../common/json/json.js'
import { renderStandaloneStub } from '../documentation/document-tools.js'
import { parseArguments, parseArgumentsNow } from '../validation/check-arguments.js'
import { checkOutput } from '../validation/check-output.js'
import { defineTool } from '../define-tool.js'
import type { Tool } from '../tool.js'
import type { JsonSchema } from './schemas.js'

const toolOf = (input: JsonSchema): Tool =>
  defineTool({ name: 'a_tool', description: 'x', input, output: {}, effect: 'read', run: () => null })
const outputTool = { name: 'a_tool', description: 'x', effect: 'read', run: () => ({}) } as const
const fits = (tool: Tool, ...values: readonly unknown[]) => values.map((value) => tool.input.safeParse(value).success)
const properties = (members: JsonObject) => ({ type: 'object', properties: members })
const protoSchema = '{ "type": "object", "properties": { "__proto__": { "type": "string" } } }'
const P = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }

describe('the keywords of a JSON Schema', () => {
  it('the model gets the keywords of a JSON Schema unchanged', () => {
    const members = {
      uri: { type: 'string', format: 'uri' },
      email: { type: 'string', format: 'email', pattern: '@example.com$' },
      size: { type: 'string', default: 'None', description: 'The size.' },
    }
    const tool = toolOf({ ...properties(members), required: ['size'] })
    expect(tool.inputSchema).toEqual({
      type: 'object',
      properties: members,
      required: ['size'],
      additionalProperties: false,
    })
    const stub = renderStandaloneStub(tool)
    expect(stub).toMatch(/async def a_tool\(size: str,/)
    expect(stub).toContain('uri: (format uri')
    expect(stub).toContain('like @example.com$')
  })

  it('a JSON Schema documents defaults, and adds none to the arguments', () => {
    const tool = toolOf(
      properties({ a: { type: 'string', default: 'None' }, b: { type: 'object', properties: { c: { default: 1 } } } }),
    )
    expect(tool.input.parse({ b: {} })).toEqual({ b: {} })
    expect(renderStandaloneStub(tool)).toContain("a: str = 'None'")
  })

  it.each<[string, JsonObject, readonly unknown[], readonly boolean[]]>([
    ['nullable', { type: 'string', nullable: true }, ['x', null, 1], [true, true, false]],
    ['nullable: false', { type: 'string', nullable: false }, ['x', null], [true, false]],
    ['nullable with values', { type: 'string', enum: ['a'], nullable: true }, ['a', null, 'b'], [true, true, false]],
    ['nullable with parts', { allOf: [{ type: 'string' }], nullable: true }, ['x', null, 1], [true, true, false]],
    [
      'nullable with alternatives',
      { anyOf: [{ type: 'string' }], nullable: true },
      ['x', null, 1],
      [true, true, false],
    ],
    [
      'exclusiveMinimum of draft 4, with 0',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      [0, 1],
      [false, true],
    ],
    ['nullable with one value', { type: 'string', const: 'a', nullable: true }, ['a', null, 'b'], [true, true, false]],
    ['a uuid or null', { type: 'string', format: 'uuid', nullable: true }, ['x', null, 1], [true, true, false]],
    [
      'members that need others, or null',
      { type: ['object', 'null'], dependentRequired: { a: ['b'] } },
      [null, { a: 1 }, { a: 1, b: 1 }, 1],
      [true, false, true, false],
    ],
    [
      'alternatives beside keywords of one of them',
      { anyOf: [{ type: 'string' }, { type: 'array' }], minItems: 1 },
      ['x', [1], 1],
      [true, true, false],
    ],
    [
      'alternatives of members beside properties',
      { properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      [{ a: 1 }, {}, 1],
      [true, false, false],
    ],
    ['a pattern with classes of Unicode', { type: 'string', pattern: String.raw`^\p{L}+$` }, ['é', 1], [true, false]],
    ['additionalProperties: null', { type: 'object', additionalProperties: null }, [{ a: 1 }, 1], [true, false]],
    ['enum: null', { type: 'string', enum: null }, ['x', 1], [true, false]],
    ['items and sizes that are null', { type: 'array', items: null, maxItems: null }, [[1], 1], [true, false]],
    ['references and parts that are null', { type: 'string', $ref: null, anyOf: null }, ['x', 1], [true, false]],
    [
      'a member whose schema is null',
      { type: 'object', properties: { b: null }, required: ['b'], additionalProperties: false },
      [{ b: 1 }, {}],
      [true, false],
    ],
    ['null as a value', { enum: [null, 'a'] }, [null, 'a', 'b'], [true, true, false]],
    ['null as the only value', { const: null }, [null, 'a'], [true, false]],
    [
      'required members of draft 3',
      {
        type: 'object',
        properties: { b: { type: 'string', required: true }, c: { required: false } },
        required: ['d'],
      },
      [{ b: 'x', d: 1 }, { d: 1 }, { b: 'x' }],
      [true, false, false],
    ],
    ['booleans that are texts', { type: 'boolean', enum: ['True', 'False'] }, [true, 'True'], [true, false]],
    [
      'dependencies',
      { type: 'object', properties: { a: {}, b: {} }, dependencies: { a: ['b'] } },
      [{ a: 1, b: 1 }, { b: 1 }, { a: 1 }],
      [true, true, false],
    ],
    [
      'dependentRequired',
      { type: 'object', dependentRequired: { a: ['b'] } },
      [{ a: 1, b: 1 }, {}, { a: 1 }],
      [true, true, false],
    ],
    [
      'dependentSchemas',
      { type: 'object', dependentSchemas: { a: { required: ['b'] } } },
      [{ a: 1, b: 1 }, {}, { a: 1 }],
      [true, true, false],
    ],
    [
      'required names without a schema',
      { type: 'object', required: ['a'], additionalProperties: { type: 'number' } },
      [{ a: 1 }, { a: 'x' }, {}],
      [true, false, false],
    ],
    [
      'objects and lists among the choices',
      { enum: [{ a: { b: [1] } }, [1, 'x'], [], null, 3] },
      [{ a: { b: [1] } }, [1, 'x'], [], null, 3, { a: { b: [2] } }, { a: { b: [1] }, c: 1 }, [1], [1, 'x', 2], {}, 4],
      [true, true, true, true, true, false, false, false, false, false, false],
    ],
    [
      'an object as the only value',
      { type: 'object', const: { a: 1 }, properties: { a: { type: 'integer' } } },
      [{ a: 1 }, { a: 2 }, {}],
      [true, false, false],
    ],
    ['lists or null as values', { type: 'array', enum: [[1]], nullable: true }, [[1], null, [2]], [true, true, false]],
    [
      'the size of a list of anything',
      { type: 'array', minItems: 1, maxItems: 2 },
      [[], [1, 'x'], [1, 2, 3]],
      [false, true, false],
    ],
    ['keywords without a type', { minLength: 2 }, ['ab', 'a'], [true, false]],
  ])('the keywords of a JSON Schema are checked: %s', (_what, schema, values, expected) => {
    expect(fits(toolOf(properties({ a: schema })), ...values.map((a) => ({ a })))).toEqual(expected)
  })

  it.each(['date-time', 'date', 'time', 'duration', 'email', 'idn-email', 'hostname', 'uri', 'uri-reference', 'uuid'])(
    'document a format: %s',
    (format) => {
      const values = ['2024-01-01T00:00:00.123456', '10:00:00', 'root@localhost', 'müller@exämple.de', '../a', 'x']
      const schema = { type: 'string', format }
      expect(fits(toolOf(properties({ a: schema })), ...values.map((a) => ({ a })))).toEqual(values.map(() => true))
      const { output } = defineTool({ ...outputTool, input: {}, output: properties({ a: schema }) })
      for (const a of values) expect(output.safeParse({ a }).success, a).toBe(true)
      expect(renderStandaloneStub(toolOf(properties({ a: schema })))).toContain(`format ${format}`)
    },
  )

  it('name members as those of every object, which may be missing', async () => {
    const member = properties({ constructor: { type: 'string' }, toString: { type: 'string' } })
    const inputs: readonly JsonSchema[] = [
      { ...member, additionalProperties: true },
      properties({ a: member }),
      { ...properties({ a: member }), minProperties: 1 },
      { $defs: { M: member }, anyOf: [{ properties: { a: { $ref: '#/$defs/M' } }, required: ['a'] }, P] },
    ]
    const args = { a: {} }
    for (const input of inputs) {
      expect(parseArgumentsNow(toolOf(input), args)).toEqual({ ok: true, value: args })
      expect(await parseArguments(toolOf(input), args)).toEqual({ ok: true, value: args })
    }
    expect(() => defineTool({ ...outputTool, input: member, output: {}, inputExamples: [{}] })).not.toThrow()
    const tool = defineTool({ ...outputTool, input: {}, output: member })
    expect(await checkOutput(tool, {}, { resultBytes: 100 })).toEqual({})
    await expect(checkOutput(tool, { constructor: 1 }, { resultBytes: 100 })).rejects.toThrow('constructor: expected')
  })

  it.each<[string, JsonSchema, string, string | undefined]>([
    ['an unknown type', properties({ a: { type: 'any' } }), 'Unsupported type: any', undefined],
    ['a condition', { ...properties({}), if: {}, else: {} }, 'Conditional schemas', undefined],
    ['a list as a schema', properties({ a: { anyOf: [null] } }), 'a keyword has a value of a wrong type', undefined],
    ['__proto__ as a name', JSON.parse(protoSchema) as JsonSchema, 'no member can have the name __proto__', undefined],
    ['a root that is no object', { type: 'string' }, 'its type is string', 'Arguments have names'],
  ])('that can not be checked are refused with a hint that fits: %s', (_what, input, message, hint) => {
    expect(() => toolOf(input)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(message),
        hint: hint === undefined ? undefined : expect.stringContaining(hint),
      }),
    )
  })

  it('say with nullable what a reader of types understands', () => {
    const stub = renderStandaloneStub(
      toolOf({
        $defs: { P },
        ...properties({ a: { type: 'string', nullable: true }, b: { $ref: '#/$defs/P', nullable: true } }),
      }),
    )
    expect(stub).toContain('a: str | None')
    expect(stub).toContain('b: P | None')
  })
})
