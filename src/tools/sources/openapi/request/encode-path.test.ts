import { expect, it } from 'vitest'
import type { JsonValue } from '../../../../common/json/json.js'
import { checkUrl, encodePath } from './encode-path.js'

const simple = { style: 'simple', explode: false, allowReserved: false } as const
const parameter = (name: string, isMultiSegment = false) => ({
  argument: name,
  name,
  serialization: simple,
  isMultiSegment,
})

const encode = (id: JsonValue, template = '/users/{id}/posts', isMultiSegment = false): string =>
  encodePath(template, [parameter('id', isMultiSegment)], { id })

it('an argument is encoded within its segment', () => {
  expect(encode('a b?c#d;e@f')).toBe('/users/a%20b%3Fc%23d%3Be%40f/posts')
  expect(encode(7)).toBe('/users/7/posts')
  expect(encode(['a', 'b'], '/users/{id}')).toBe('/users/a,b')
  expect(encode('x', '/files/{id}.json')).toBe('/files/x.json')
})

it.each([
  '..',
  '.',
  '',
  '../admin',
  'a/b',
  'a\\b',
  '%2e%2e',
  '%2E',
  '..%2fadmin',
  'a%2Fb',
  'a%5cb',
  'a\u0000',
  'a\r\nb',
  null,
])('an argument %j can not leave its segment', (id) => {
  expect(() => encode(id)).toThrow(/argument/)
})

it('parts of one segment can not become dots together', () => {
  const parameters = [parameter('a'), parameter('b')]
  expect(() => encodePath('/x/{a}{b}', parameters, { a: '.', b: '.' })).toThrow('"."')
  const label = { ...parameter('a'), serialization: { ...simple, style: 'label' as const } }
  expect(() => encodePath('/x/{a}', [label], { a: '.' })).toThrow('"."')
})

it('a value with several segments keeps its slashes, and can not climb', () => {
  const path = (id: string) => encode(id, '/contents/{id}', true)
  expect(path('src/a b.ts')).toBe('/contents/src/a%20b.ts')
  for (const id of ['../x', 'a/../x', 'a//b', '/a', 'a/.', 'a%2f..', '']) expect(() => path(id)).toThrow(/argument/)
})

it('a path that the standard of URLs would change is refused', () => {
  const check = (path: string) => checkUrl(new URL(`https://api.example.com${path}`), 'https://api.example.com', path)
  expect(() => check('/users/a')).not.toThrow()
  for (const path of ['/users/../admin', '/users/%2e%2e/admin', '/users?x', '/us ers', '@evil.example/x'])
    expect(() => check(path)).toThrow('would change the path')
})
