import { expect, it } from 'vitest'
import type { JsonValue } from '../../../../common/json/json.js'
import { baseUrlOf } from './servers.js'

function baseUrl(
  server: JsonValue | undefined,
  variables: Readonly<Record<string, string>> = {},
  at = 'https://docs.example.com/spec/openapi.json',
) {
  return baseUrlOf([undefined, server === undefined ? undefined : [server]], { documentUrl: new URL(at), variables })
}

const region = {
  url: 'https://{region}.example.com/{base}/',
  variables: { region: { default: 'us', enum: ['us', 'eu'] }, base: { default: 'v1' } },
}

it('variables have their defaults, or values of the configuration', () => {
  expect(baseUrl(region)).toBe('https://us.example.com/v1')
  expect(baseUrl(region, { region: 'eu', base: 'v2' })).toBe('https://eu.example.com/v2')
})

it.each([
  [{ url: 'https://{region}.example.com' }, {}, 'variable "region" of its server has no value'],
  [region, { region: 'evil' }, 'must be one of us, eu'],
  [{ url: 'ftp://example.com' }, {}, 'not http'],
  [{ url: 'https://user:password@example.com' }, {}, 'has a user'],
  [{ url: 'https://' }, {}, 'is not a URL'],
  [{}, {}, 'has no URL'],
])('the server %j is refused', (server, variables, problem) => {
  expect(() => baseUrl(server, variables)).toThrow(problem)
})

it('a relative server is resolved against the document', () => {
  expect(baseUrl({ url: '/v1' })).toBe('https://docs.example.com/v1')
  expect(baseUrl({ url: '../api/' })).toBe('https://docs.example.com/api')
  expect(baseUrl(undefined)).toBe('https://docs.example.com')
  expect(() => baseUrl({ url: '/v1' }, {}, 'file:///folder/openapi.json')).toThrow('relative to a file: set baseUrl')
})

it('the servers of an operation come before those of its path and of the document', () => {
  const at = (url: string) => [{ url: `https://${url}.example.com` }]
  const options = { documentUrl: new URL('https://docs.example.com'), variables: {} }
  expect(baseUrlOf([at('operation'), at('path'), at('document')], options)).toBe('https://operation.example.com')
  expect(baseUrlOf([undefined, at('path'), at('document')], options)).toBe('https://path.example.com')
  expect(baseUrlOf([[], undefined, at('document')], options)).toBe('https://document.example.com')
})
