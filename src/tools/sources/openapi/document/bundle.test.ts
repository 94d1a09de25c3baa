import { expect, it, vi } from 'vitest'
import { readDocument } from '../../../../../test/support/openapi/read-document.js'
import type { JsonObject } from '../../../../common/json/json.js'
import { bundle, type LoadedFile } from './bundle.js'

const base = new URL('https://api.example.com/v1/openapi.yaml')

/** Bundles a document with these files, and returns its operations. */
async function bundled(root: JsonObject, files: Readonly<Record<string, JsonObject>>) {
  const load = vi.fn((url: URL): Promise<LoadedFile> => {
    const file = files[url.pathname.replace('/v1/', '')]
    return file ? Promise.resolve({ root: file, url }) : Promise.reject(new Error('it is not there'))
  })
  const problems = await bundle({ root, url: base }, load)
  return { root, problems, loaded: load.mock.calls.map(([url]) => url.pathname) }
}

const jsonBody = (schema: JsonObject) => ({ requestBody: { content: { 'application/json': { schema } } } })

it('paths, parameters and schemas of other files are read, which refer to each other and to the document', async () => {
  const { root, problems, loaded } = await bundled(
    {
      paths: { '/pets/{id}': { $ref: 'paths/pets.yaml' } },
      components: { schemas: { Name: { type: 'string', maxLength: 7 } } },
    },
    {
      'paths/pets.yaml': {
        parameters: [{ $ref: '../parameters.yaml#/Id' }],
        put: { operationId: 'call', ...jsonBody({ $ref: '../models/pet.yaml' }) },
      },
      'parameters.yaml': { Id: { in: 'path', name: 'id', required: true, schema: { type: 'integer' } } },
      'models/pet.yaml': {
        type: 'object',
        properties: {
          name: { $ref: '../openapi.yaml#/components/schemas/Name' },
          mother: { $ref: '#' },
          tag: { $ref: '#/$defs/Tag' },
          example: { $ref: './tag.yaml' },
        },
        $defs: { Tag: { type: 'boolean' } },
      },
      'models/tag.yaml': { type: 'number' },
    },
  )
  expect(problems).toEqual([])
  expect(new Set(loaded).size).toBe(loaded.length)
  const { call } = readDocument(root)
  const { properties, $defs } = call?.inputSchema ?? {}
  expect(properties).toMatchObject({ id: { type: 'integer' } })
  expect(Object.values($defs ?? {})).toEqual(
    expect.arrayContaining([{ type: 'string', maxLength: 7 }, { type: 'boolean' }, { type: 'number' }]),
  )
})

it('mappings of discriminators are references, too', async () => {
  const { root } = await bundled(
    { paths: { '/x': { post: { operationId: 'call', ...jsonBody({ $ref: 'pet.yaml#/Pet' }) } } } },
    {
      'pet.yaml': {
        Pet: { type: 'object', discriminator: { propertyName: 'kind', mapping: { cat: 'cat.yaml' } } },
      },
      'cat.yaml': { type: 'object', properties: { lives: { type: 'integer' } } },
    },
  )
  expect(JSON.stringify(readDocument(root)['call']?.inputSchema)).toContain('lives')
})

it('a file that can not be read is a problem of what needs it, and the other operations stay', async () => {
  const { root, problems } = await bundled(
    {
      paths: {
        '/a': { get: { operationId: 'a' } },
        '/b': { post: { operationId: 'b', ...jsonBody({ $ref: 'missing.yaml#/B' }) } },
      },
    },
    {},
  )
  expect(problems).toEqual(['missing.yaml: it is not there'])
  expect(() => readDocument(root)).toThrow('is in another document that is not read')
})

it('data that looks like a reference is left alone', async () => {
  const { loaded } = await bundled(
    { paths: {}, components: { schemas: { A: { default: { $ref: 'a.yaml' }, enum: [{ $ref: 'b.yaml' }] } } } },
    {},
  )
  expect(loaded).toEqual([])
})

it('a document of too many files, and one that is nested deep, end', async () => {
  const refs = Array.from({ length: 600 }, (_, n) => ({ $ref: `${n}.yaml` }))
  const { root, problems, loaded } = await bundled({ 'x-list': refs }, { '599.yaml': { type: 'null' } })
  const bundledRefs = root['x-list'] as readonly object[]
  expect([bundledRefs[0], bundledRefs[599]]).toEqual([{ $ref: '0.yaml' }, { $ref: '#/x-files/599.yaml' }])
  expect(problems.at(-1)).toBe('it has more than 500 other files')
  expect(loaded).toHaveLength(500)
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}{"$ref":"a.yaml"}${'}'.repeat(5_000)}`) as JsonObject
  expect((await bundled(deep, {})).loaded).toEqual(['/v1/a.yaml'])
})
