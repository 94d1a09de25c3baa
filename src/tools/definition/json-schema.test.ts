import { describe, expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { renderStandaloneStub } from '../documentation/document-tools.js'
import { defineTool } from '../define-tool.js'
import type { Tool } from '../tool.js'
import type { JsonSchema } from './schemas.js'

const toolOf = (input: JsonSchema): Tool =>
  defineTool({ name: 'a_tool', description: 'x', input, output: {}, effect: 'read', run: () => null })
const fits = (tool: Tool, ...values: readonly unknown[]) => values.map((value) => tool.input.safeParse(value).success)
const properties = (members: JsonObject): JsonSchema => ({ type: 'object', properties: members })
const P = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }

function refusal(input: JsonSchema): string {
  try {
    toolOf(input)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'CONFIG_INVALID') return thrown.message
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('a reference within a JSON Schema', () => {
  const dialects = [
    undefined,
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ]
  it.each(dialects.flatMap(($schema) => ['definitions', '$defs'].map((folder) => [folder, $schema] as const)))(
    'finds a reference of a JSON Schema in %s with $schema %s',
    (folder, $schema) => {
      const document = { ...($schema && { $schema }), [folder]: { P } }
      const tool = toolOf({ ...document, ...properties({ a: { $ref: `#/${folder}/P` } }) })
      expect(fits(tool, { a: { x: 1 } }, { a: {} }, { a: 1 })).toEqual([true, false, false])
      expect(renderStandaloneStub(tool)).toContain('x: float')
    },
  )

  it.each<[string, JsonSchema]>([
    [
      'components of OpenAPI',
      { components: { schemas: { P } }, ...properties({ a: { $ref: '#/components/schemas/P' } }) },
    ],
    ['another property', properties({ p: P, a: { $ref: '#/properties/p' } })],
    [
      'a name in percent encoding',
      { $defs: { 'Page[int]': P }, ...properties({ a: { $ref: '#/$defs/Page%5Bint%5D' } }) },
    ],
    ['a name with a percent sign', { $defs: { 'a%b': P }, ...properties({ a: { $ref: '#/$defs/a%25b' } }) }],
    ['a name with a slash and a tilde', { $defs: { 'a/b~c': P }, ...properties({ a: { $ref: '#/$defs/a~1b~0c' } }) }],
    [
      'a folder within folders',
      { $defs: { v1: { models: { P } } }, ...properties({ a: { $ref: '#/$defs/v1/models/P' } }) },
    ],
    ['an item of a list', properties({ p: { anyOf: [{ type: 'string' }, P] }, a: { $ref: '#/properties/p/anyOf/1' } })],
    ['$anchor', { $defs: { any: { $anchor: 'p', ...P } }, ...properties({ a: { $ref: '#p' } }) }],
    ['$id', { $defs: { any: { $id: 'p.json', ...P } }, ...properties({ a: { $ref: 'p.json' } }) }],
    [
      '$id relative to that of the root',
      {
        $id: 'https://example.com/root.json',
        $defs: { any: { $id: '/p.json', ...P } },
        ...properties({ a: { $ref: 'https://example.com/p.json#' } }),
      },
    ],
    [
      'the address of the root',
      { $id: 'https://example.com/root.json', $defs: { P }, ...properties({ a: { $ref: 'root.json#/$defs/P' } }) },
    ],
    [
      'a reference to a reference',
      { $defs: { P, Q: { $ref: '#/$defs/P' } }, ...properties({ a: { $ref: '#/$defs/Q' } }) },
    ],
    [
      'keywords beside it',
      { $defs: { P }, ...properties({ a: { $ref: '#/$defs/P', required: ['x'], description: 'a' } }) },
    ],
    ['$dynamicRef', { $defs: { any: { $dynamicAnchor: 'p', ...P } }, ...properties({ a: { $dynamicRef: '#p' } }) }],
    ['$dynamicRef to $anchor', { $defs: { any: { $anchor: 'p', ...P } }, ...properties({ a: { $dynamicRef: '#p' } }) }],
    ['$ref to $dynamicAnchor', { $defs: { any: { $dynamicAnchor: 'p', ...P } }, ...properties({ a: { $ref: '#p' } }) }],
    ['$dynamicRef by pointer', { $defs: { P }, ...properties({ a: { $dynamicRef: '#/$defs/P' } }) }],
    [
      '__proto__',
      JSON.parse(
        JSON.stringify({ $defs: { P }, ...properties({ a: { $ref: '#/$defs/P' } }) })
          .replaceAll('"P"', '"__proto__"')
          .replaceAll('/P', '/__proto__'),
      ) as JsonSchema,
    ],
  ])('a reference of a JSON Schema may use %s', (_what, document) => {
    expect(fits(toolOf(document), { a: { x: 1 } }, { a: { x: 'x' } })).toEqual([true, false])
  })

  it('references of a JSON Schema may be recursive, over the root, lists, maps and each other', () => {
    const tree = toolOf({ ...properties({ n: { type: 'number' }, sub: { type: 'array', items: { $ref: '#' } } }) })
    expect(fits(tree, { n: 1, sub: [{ n: 2, sub: [] }] }, { sub: [{ n: 'x' }] })).toEqual([true, false])
    const node = (other: string) => ({
      type: 'object',
      properties: { next: { $ref: `#/definitions/${other}` }, x: { type: 'number' } },
    })
    const cycle = toolOf({
      definitions: { A: node('B'), B: node('A') },
      ...properties({ a: { $ref: '#/definitions/A' } }),
    })
    expect(fits(cycle, { a: { next: { next: { x: 1 } } } }, { a: { next: { next: { x: 'x' } } } })).toEqual([
      true,
      false,
    ])
    expect(renderStandaloneStub(cycle)).toMatch(/class A\(TypedDict\)/)
    const map = toolOf({
      definitions: { M: { type: 'object', additionalProperties: { $ref: '#/definitions/M' } } },
      ...properties({ a: { $ref: '#/definitions/M' } }),
    })
    expect(fits(map, { a: { b: { c: {} } } }, { a: { b: { c: 1 } } })).toEqual([true, false])
  })

  it.each<[string, JsonObject, JsonObject]>([
    ['$recursiveRef', { $recursiveAnchor: true }, { $recursiveRef: '#' }],
    ['$dynamicRef', { $dynamicAnchor: 'node' }, { $dynamicRef: '#node' }],
    ['$dynamicRef to the root', {}, { $dynamicRef: '#' }],
  ])('may be recursive by %s', (_what, anchor, reference) => {
    const tree = toolOf({
      ...anchor,
      ...properties({ n: { type: 'number' }, sub: { type: 'array', items: reference } }),
    })
    expect(fits(tree, { n: 1, sub: [{ n: 2, sub: [] }] }, { sub: [{ n: 'x' }] })).toEqual([true, false])
  })

  it('with several dynamic targets is refused', () => {
    const $defs = { A: { $id: 'a', $dynamicAnchor: 'p', ...P }, B: { $id: 'b', $dynamicAnchor: 'p', type: 'string' } }
    expect(refusal({ $defs, ...properties({ a: { $dynamicRef: 'a#p' } }) })).toMatch(/Dynamic reference with several/)
  })

  it('gives different parts with one name different names', () => {
    const tool = toolOf({
      definitions: { P },
      $defs: { P: { type: 'string' } },
      ...properties({ a: { $ref: '#/definitions/P' }, b: { $ref: '#/$defs/P' } }),
    })
    expect(fits(tool, { a: { x: 1 }, b: 'x' }, { a: 'x', b: { x: 1 } })).toEqual([true, false])
  })

  it.each<[string, string, RegExp]>([
    ['to elsewhere', 'https://example.com/p.json', /External \$ref/],
    ['to nothing', '#/$defs/missing', /Reference not found: #\/\$defs\/missing/],
    ['to no schema', '#/title', /Reference is to no schema/],
    ['to itself', '#/properties/a', /refers to itself/],
  ])('refuses a reference of a JSON Schema %s', (_what, $ref, message) => {
    expect(refusal({ title: 'x', ...properties({ a: { $ref } }) })).toMatch(message)
  })
})

describe('the root of a JSON Schema', () => {
  it.each<[string, JsonSchema, readonly unknown[], readonly boolean[]]>([
    ['no keyword', {}, [{}, { a: 1 }], [true, false]],
    ['no type', { properties: { a: { type: 'string' } }, required: ['a'] }, [{ a: 'x' }, {}], [true, false]],
    [
      'two types',
      { ...properties({ a: { type: 'string' } }), type: ['object', 'null'] },
      [{ a: 'x' }, { a: 1 }],
      [true, false],
    ],
    ['a default', { ...properties({ a: {} }), default: {} }, [{ a: 1 }, { b: 1 }], [true, false]],
    [
      'alternatives',
      { anyOf: [{ ...P }, properties({ y: { type: 'string' } })] },
      [{ x: 1 }, { y: 'y' }, { z: 1 }],
      [true, true, false],
    ],
    [
      'required members of alternatives',
      { ...properties({ a: {}, b: {} }), oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      [{ a: 1 }, { a: 1, b: 1 }, {}],
      [true, false, false],
    ],
    [
      'parts',
      { $defs: { P }, allOf: [{ $ref: '#/$defs/P' }, properties({ y: { type: 'string' } })] },
      [{ x: 1, y: 'y' }, { y: 'y' }],
      [true, false],
    ],
    ['a reference', { $defs: { P }, $ref: '#/$defs/P' }, [{ x: 1 }, {}], [true, false]],
    [
      'patterns of names',
      { type: 'object', patternProperties: { '^x': { type: 'number' } } },
      [{ x1: 1 }, { x1: 'x' }, { y: 1 }],
      [true, false, false],
    ],
    ['a number of members', { ...properties({ a: {}, b: {} }), minProperties: 1 }, [{ a: 1 }, {}], [true, false]],
    [
      'a required name without a schema',
      { ...properties({ a: {} }), required: ['b'] },
      [{ b: 1 }, { a: 1 }],
      [true, false],
    ],
  ])('the root of a JSON Schema may have %s', (_what, schema, values, expected) => {
    const tool = toolOf(schema)
    expect(fits(tool, ...values)).toEqual(expected)
    expect(tool.inputSchema).toMatchObject({ type: 'object' })
    expect(Object.keys(tool.inputSchema)).not.toEqual(expect.arrayContaining(['anyOf']))
    expect(renderStandaloneStub(tool)).toContain('async def a_tool(')
  })

  it('the root of a JSON Schema lists the members of all alternatives, and requires those of each', () => {
    const first = {
      type: 'object',
      properties: { kind: { const: 'a' }, x: { type: 'number' } },
      required: ['kind', 'x'],
    }
    const second = { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] }
    expect(toolOf({ anyOf: [first, second] }).inputSchema).toEqual({
      type: 'object',
      properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, x: { type: 'number' } },
      required: ['kind'],
      additionalProperties: false,
    })
  })

  it.each<[string, JsonSchema, RegExp]>([
    ['text', { type: 'string' }, /its type is string; it must be object$/],
    ['a list', { type: ['array', 'null'] }, /its type is array or null; it must be object$/],
    ['values', { enum: ['a'] }, /it lists whole values/],
    ['nothing', { not: {} }, /it accepts nothing$/],
  ])('refuses a root of a JSON Schema that is %s, with the reason', (_what, schema, message) => {
    expect(refusal(schema)).toMatch(message)
  })
})
