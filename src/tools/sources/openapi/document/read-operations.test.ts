import { expect, it } from 'vitest'
import { postOf, readDocument, toolOf } from '../../../../../test/support/openapi/read-document.js'
import type { JsonValue } from '../../../../common/json/json.js'
import { versionOf } from './read-operations.js'

const parameter = (location: string, name: string, more: object = {}): JsonValue => ({
  in: location,
  name,
  required: true,
  schema: { type: 'string' },
  ...more,
})

it('parameters and a body of one name are separate arguments', () => {
  const { call } = readDocument({
    paths: {
      '/users/{id}': {
        parameters: [parameter('path', 'id')],
        post: {
          operationId: 'call',
          parameters: [
            parameter('query', 'id'),
            parameter('header', 'id'),
            parameter('cookie', 'id'),
            parameter('query', 'body'),
          ],
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } },
          },
        },
      },
    },
  })
  expect(call?.parameters.map(({ argument, location, name }) => [argument, location, name])).toEqual([
    ['path_id', 'path', 'id'],
    ['query_id', 'query', 'id'],
    ['header_id', 'header', 'id'],
    ['cookie_id', 'cookie', 'id'],
    ['query_body', 'query', 'body'],
  ])
  expect(Object.keys(call?.inputSchema['properties'] ?? {})).toEqual([
    'path_id',
    'query_id',
    'header_id',
    'cookie_id',
    'query_body',
    'body',
  ])
})

it('names of parameters become identifiers, and stay apart', () => {
  const names = ['filter[state]', 'filter.state', 'X-Api-Version', '2fa', '日本']
  const { call } = readDocument({
    paths: { '/x': { get: { operationId: 'call', parameters: names.map((name) => parameter('query', name)) } } },
  })
  const used = call?.parameters.map(({ argument }) => argument) ?? []
  expect(used.slice(2, 4)).toEqual(['X_Api_Version', 'parameter_2fa'])
  expect(new Set(used).size).toBe(5)
  for (const name of used) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]*$/)
})

it('a parameter of an operation replaces the same one of its path', () => {
  const { call } = readDocument({
    paths: {
      '/x': {
        parameters: [parameter('query', 'page', { schema: { type: 'string' } })],
        get: { operationId: 'call', parameters: [parameter('query', 'page', { schema: { type: 'integer' } })] },
      },
    },
  })
  expect(call?.inputSchema['properties']).toEqual({ page: { type: 'integer' } })
})

it('an operation without an operationId is named by method and path, and duplicates stay apart', () => {
  const operations = readDocument({
    paths: { '/pets/{id}/photos': { get: { parameters: [parameter('path', 'id')] } } },
  })
  expect(Object.keys(operations)).toEqual(['get_pets_id_photos'])
})

it('credentials and headers that the connection has are never arguments', () => {
  const headers = [
    'Authorization',
    'Content-Type',
    'Accept',
    'Host',
    'Cookie',
    'Content-Length',
    'X-Key',
    'X-Version',
    'Idempotency-Key',
    'X-Own',
  ]
  const { call } = readDocument(
    {
      paths: { '/x': { post: { operationId: 'call', parameters: headers.map((name) => parameter('header', name)) } } },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
    },
    { options: { headers: { 'x-version': '1' }, idempotencyKeyHeader: 'idempotency-key' } },
  )
  expect(call?.parameters.map(({ argument }) => argument)).toEqual(['X_Own'])
})

it.each([
  [{ '/x/{id}': { get: {} } }, 'its path has "id", which is not a parameter'],
  [{ '/x': { get: { parameters: [parameter('query', 'a', { style: 'matrix' })] } } }, 'has style "\\"matrix\\""'],
  [{ '/x': { get: { parameters: [{ in: 'body', name: 'a' }] } } }, 'unknown place'],
  [
    { '/x': { post: { requestBody: { content: { 'application/xml': {} } } } } },
    "media types that can't be sent: application/xml",
  ],
] as const)('an operation of %j is refused with the reason', (paths, problem) => {
  expect(() => readDocument({ paths })).toThrow(problem)
})

it.each([
  [{ type: 'array', items: { type: 'integer' } }, [1, 2], 'list[int]'],
  [{ type: 'string' }, 'x', 'str'],
  [true, { anything: 1 }, 'body'],
])('a body of the schema %j has an argument', (schema, value, shown) => {
  const tool = toolOf(readDocument({ paths: postOf(schema as never) })['call'])
  expect(tool.input.safeParse({ body: value }).success).toBe(true)
  expect(JSON.stringify(tool.inputSchema['required'])).toBe('["body"]')
  expect(shown).not.toBe('')
})

it('files are arguments in Base64, of a form, of a list in it, and as a whole body', () => {
  const file = { type: 'string', format: 'binary' }
  const body = (type: string, schema: JsonValue) => ({ requestBody: { content: { [type]: { schema } } } })
  const operations = readDocument({
    paths: {
      '/a': { post: { operationId: 'form', ...body('multipart/form-data', { $ref: '#/components/schemas/Form' }) } },
      '/b': { post: { operationId: 'whole', ...body('image/png', file) } },
    },
    components: {
      schemas: {
        Form: {
          type: 'object',
          properties: { one: file, more: { type: 'array', items: file }, name: { type: 'string' } },
        },
      },
    },
  })
  const base64 = expect.objectContaining({ type: 'string', contentEncoding: 'base64' }) as unknown
  expect(operations['form']?.inputSchema['properties']).toMatchObject({
    body: { properties: { one: base64, more: { items: base64 }, name: { type: 'string' } } },
  })
  expect(operations['whole']?.inputSchema['properties']).toMatchObject({ body: base64 })
})

it('a fragment of a path is not sent, and a query is', () => {
  const operations = readDocument({ paths: { '/x?kind=a#one': { get: { operationId: 'one' } } } })
  expect(operations['one']).toMatchObject({ path: '/x', query: 'kind=a' })
})

it.each([
  [{ swagger: '2.0' }, 'it is Swagger "2.0"; convert it to OpenAPI 3'],
  [{ openapi: '4.0.0' }, 'it is not OpenAPI 3: openapi is "4.0.0"'],
  [{}, 'it is not OpenAPI 3: openapi is null'],
])('the document %j is refused', (root, problem) => {
  expect(() => versionOf(root)).toThrow(problem)
})

it('what a response has is described in a few levels, without what only requests have', () => {
  const Node = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      secret: { type: 'string', writeOnly: true },
      next: { $ref: '#/components/schemas/Node' },
    },
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } }
  const read = (responses: JsonValue) =>
    readDocument({ paths: { '/x': { get: { operationId: 'call', responses } } }, components: { schemas: { Node } } })[
      'call'
    ]?.outputSchema
  expect(read({ 200: { content } })).toEqual({ type: 'object', properties: { name: { type: 'string' }, next: {} } })
  expect(read({ 204: { description: 'gone' } })).toMatchObject({ type: 'null' })
  expect(read({ 200: { content }, 204: {} })).toMatchObject({ anyOf: [{ type: 'object' }, { type: 'null' }] })
  expect(read({ 200: { content: { 'text/csv': {} } } })).toEqual({ type: 'string' })
  expect(read({ 200: { content: { 'application/json': { schema: { $ref: 'other.yaml' } } } } })).toEqual({})
  expect(read(null)).toEqual({})
  const nullable = { 'application/json': { schema: { type: 'string', nullable: true, enum: ['a'] } } }
  expect(read({ 200: { content: nullable } })).toEqual({ type: ['string', 'null'], enum: ['a', null] })
})
