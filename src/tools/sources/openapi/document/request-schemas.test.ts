import { describe, expect, it } from 'vitest'
import { postOf, readDocument, toolOf } from '../../../../../test/support/openapi/read-document.js'
import type { JsonObject } from '../../../../common/json/json.js'
import { renderStandaloneStub } from '../../../documentation/document-tools.js'

function toolWith(schemas: JsonObject, body: JsonObject, openapi = '3.1.0') {
  return toolOf(readDocument({ openapi, paths: postOf(body), components: { schemas } })['call'])
}

const accepts = (tool: ReturnType<typeof toolOf>, body: unknown): boolean => tool.input.safeParse({ body }).success

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('a schema that contains itself', () => {
  const text = { type: 'string' }
  it.each<[string, JsonObject, unknown, unknown]>([
    [
      'by a property',
      { A: { type: 'object', properties: { name: text, next: ref('A') } } },
      { next: { next: { name: 'x' } } },
      { next: { next: { name: 1 } } },
    ],
    [
      'by a list',
      { A: { type: 'object', properties: { name: text, all: { type: 'array', items: ref('A') } } } },
      { all: [{ all: [{ name: 'x' }] }] },
      { all: [{ name: 1 }] },
    ],
    [
      'over another one',
      {
        A: { type: 'object', properties: { b: ref('B') } },
        B: { type: 'object', properties: { a: ref('A'), name: text } },
      },
      { b: { a: { b: { name: 'x' } } } },
      { b: { a: { b: { name: 1 } } } },
    ],
    [
      'by allOf',
      {
        A: { allOf: [ref('B'), { type: 'object', properties: { next: ref('A') } }] },
        B: { type: 'object', properties: { name: text } },
      },
      { name: 'x', next: { name: 'y' } },
      { next: { name: 1 } },
    ],
    [
      'by the values of a map',
      { A: { type: 'object', additionalProperties: { anyOf: [text, ref('A')] } } },
      { a: { b: { c: 'x' } } },
      { a: { b: 1 } },
    ],
  ])('%s is documented and checked', (_case, schemas, valid, invalid) => {
    const tool = toolWith(schemas, ref('A'))
    expect(accepts(tool, valid)).toBe(true)
    expect(accepts(tool, invalid)).toBe(false)
    expect(JSON.stringify(tool.inputSchema)).not.toContain('components')
    expect(tool.inputSchema['$defs']).toHaveProperty('A')
    expect(renderStandaloneStub(tool)).toContain('async def api__tool(body: ')
  })
})

describe('a discriminator', () => {
  const schemas = {
    Pet: {
      type: 'object',
      properties: { kind: { type: 'string' } },
      required: ['kind'],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat', dog: 'Dog' } },
    },
    Cat: { allOf: [ref('Pet'), { type: 'object', properties: { claws: { type: 'integer' } }, required: ['claws'] }] },
    Dog: { allOf: [ref('Pet'), { type: 'object', properties: { bark: { type: 'string' } }, required: ['bark'] }] },
    Bird: { allOf: [ref('Pet'), { type: 'object', properties: { wings: { type: 'integer' } }, required: ['wings'] }] },
  }

  it('adds the subtypes of a parent that the body alone names', () => {
    const tool = toolWith(schemas, ref('Pet'))
    expect(accepts(tool, { kind: 'cat', claws: 4 })).toBe(true)
    expect(accepts(tool, { kind: 'dog', bark: 'loud' })).toBe(true)
    expect(accepts(tool, { kind: 'cat', claws: 'many' })).toBe(false)
    const stub = renderStandaloneStub(tool)
    for (const member of ['claws', 'bark', 'wings']) expect(stub).toContain(member)
  })

  it('adds the subtypes of a parent one level down', () => {
    const owner = { type: 'object', properties: { pets: { type: 'array', items: ref('Pet') } } }
    const tool = toolWith({ ...schemas, Owner: owner }, ref('Owner'))
    expect(accepts(tool, { pets: [{ kind: 'cat', claws: 4 }] })).toBe(true)
    expect(accepts(tool, { pets: [{ kind: 'cat', claws: 'many' }] })).toBe(false)
    expect(JSON.stringify(tool.inputSchema)).toContain('claws')
  })

  it('finds subtypes without a mapping, and a subtype alone has no others', () => {
    const { mapping: _, ...discriminator } = schemas.Pet.discriminator
    const tool = toolWith({ ...schemas, Pet: { ...schemas.Pet, discriminator } }, ref('Pet'))
    expect(accepts(tool, { kind: 'bird', wings: 2 })).toBe(true)
    expect(JSON.stringify(toolWith(schemas, ref('Cat')).inputSchema)).not.toContain('bark')
  })

  it('of a parent that lists its subtypes, which extend it, ends', () => {
    const Pet = { ...schemas.Pet, oneOf: [ref('Cat'), ref('Dog')] }
    const tool = toolWith({ ...schemas, Pet }, ref('Pet'))
    expect(accepts(tool, { kind: 'cat', claws: 4 })).toBe(true)
  })
})

describe('the dialect of OpenAPI 3.0', () => {
  const check = (schema: JsonObject, value: unknown) => accepts(toolWith({}, schema, '3.0.3'), value)

  it('reads exclusive bounds that are booleans, with a bound of 0 too', () => {
    const above = { type: 'number', minimum: 0, exclusiveMinimum: true }
    expect([0, 0.5].map((value) => check(above, value))).toEqual([false, true])
    const below = { type: 'number', maximum: 0, exclusiveMaximum: true }
    expect([0, -1].map((value) => check(below, value))).toEqual([false, true])
    const inclusive = { type: 'number', minimum: 0, exclusiveMinimum: false, maximum: 5, exclusiveMaximum: false }
    expect([0, 5, 6].map((value) => check(inclusive, value))).toEqual([true, true, false])
  })

  it('reads nullable, with enum and with a reference too', () => {
    expect(check({ type: 'string', nullable: true }, null)).toBe(true)
    expect(check({ type: 'string' }, null)).toBe(false)
    expect(check({ type: 'string', enum: ['a'], nullable: true }, null)).toBe(true)
    const A = { type: 'object', nullable: true, properties: { x: { type: 'string' } } }
    expect(accepts(toolWith({ A }, { type: 'object', properties: { a: ref('A') } }, '3.0.3'), { a: null })).toBe(true)
  })

  it('ignores the neighbours of a reference, which 3.1 respects', () => {
    const schemas = { A: { type: 'string' } }
    const body = { ...ref('A'), maxLength: 1 }
    expect(accepts(toolWith(schemas, body, '3.0.3'), 'abc')).toBe(true)
    expect(accepts(toolWith(schemas, body, '3.1.0'), 'abc')).toBe(false)
  })
})

describe('members that only responses have', () => {
  const User = {
    type: 'object',
    required: ['id', 'name', 'at'],
    properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' }, at: { ...ref('Time') } },
  }
  const Time = { type: 'string', readOnly: true }

  it('are neither required nor documented in requests', () => {
    const tool = toolWith({ User, Time }, ref('User'))
    expect(accepts(tool, { name: 'x' })).toBe(true)
    const stub = renderStandaloneStub(tool)
    expect(stub).toContain('name: str')
    expect(stub).not.toMatch(/\b(?:id|at): /)
  })

  it('are not required by another part of allOf', () => {
    const tool = toolWith(
      { User: { ...User, required: [] }, Time },
      { allOf: [ref('User'), { required: ['id', 'name'] }] },
    )
    expect(accepts(tool, { name: 'x' })).toBe(true)
    expect(accepts(tool, {})).toBe(false)
  })
})

it('a schema that can not be checked is documented, and the API checks it', () => {
  const operation = readDocument({
    paths: postOf({ type: 'object', properties: { a: { type: 'string' } }, unevaluatedProperties: false }),
  })['call']
  expect(() => toolOf(operation)).toThrow('its arguments are not checked before they are sent')
})

it.each([
  [{ $ref: 'other.yaml#/A' }, 'is in another document that is not read'],
  [ref('Missing'), 'is missing'],
  [ref('Loop'), 'refers to itself'],
])('an operation with the schema %j is refused with the reason', (schema, problem) => {
  const schemas = { Loop: ref('Loop') }
  expect(() => readDocument({ paths: postOf(schema), components: { schemas } })).toThrow(problem)
})

it('a pattern of the document is never matched here', () => {
  const tool = toolWith({}, { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
  expect(accepts(tool, { a: `${'a'.repeat(40)}!` })).toBe(true)
})
