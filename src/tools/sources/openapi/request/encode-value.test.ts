import { expect, it } from 'vitest'
import type { JsonValue } from '../../../../common/json/json.js'
import type { Style } from '../operation.js'
import { encodePairs, encodeText } from './encode-value.js'

const values: Readonly<Record<'text' | 'list' | 'members', JsonValue>> = {
  text: 'blue',
  list: ['blue', 'black', 'brown'],
  members: { R: 100, G: 200 },
}

/** From the table of the specification (3.1.1, style examples). */
it.each([
  ['simple', false, 'blue', 'blue,black,brown', 'R,100,G,200'],
  ['simple', true, 'blue', 'blue,black,brown', 'R=100,G=200'],
  ['label', false, '.blue', '.blue,black,brown', '.R,100,G,200'],
  ['label', true, '.blue', '.blue.black.brown', '.R=100.G=200'],
  ['matrix', false, ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200'],
  ['matrix', true, ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200'],
] as const)('a path has style %s, explode %s', (style, explode, text, list, members) => {
  const encode = (value: JsonValue) => encodeText('color', value, { style, explode, allowReserved: false })
  expect([values.text, values.list, values.members].map(encode)).toEqual([text, list, members])
})

it.each([
  ['form', false, 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200'],
  ['form', true, 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200'],
  ['spaceDelimited', false, 'color=blue', 'color=blue%20black%20brown', 'color=R%20100%20G%20200'],
  ['spaceDelimited', true, 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200'],
  ['pipeDelimited', false, 'color=blue', 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200'],
  ['pipeDelimited', true, 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200'],
  [
    'deepObject',
    true,
    'color=blue',
    'color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown',
    'color%5BR%5D=100&color%5BG%5D=200',
  ],
] as const)('a query has style %s, explode %s', (style, explode, text, list, members) => {
  expect([values.text, values.list, values.members].map((value) => query(value, style, explode))).toEqual([
    text,
    list,
    members,
  ])
})

function query(value: JsonValue, style: Style = 'form', explode = true, allowReserved = false): string {
  return encodePairs('color', value, { style, explode, allowReserved })
    .map(([name, text]) => `${name}=${text}`)
    .join('&')
}

it('delimiters and reserved characters within a value are encoded', () => {
  expect(query(['a,b', 'c&d=e'], 'form', false)).toBe('color=a%2Cb,c%26d%3De')
  expect(query("it's (50%) #1+1 ✓")).toBe('color=it%27s%20%2850%25%29%20%231%2B1%20%E2%9C%93')
})

it('allowReserved keeps what a query may have, and nothing that would end its member', () => {
  expect(query('a/b:c?d&e=f#g+h', 'form', true, true)).toBe('color=a/b:c?d%26e%3Df%23g%2Bh')
})

it('null and empty lists are left out, and false and 0 are sent', () => {
  expect([null, [], {}].map((value) => query(value))).toEqual(['', '', ''])
  expect([false, 0, ''].map((value) => query(value))).toEqual(['color=false', 'color=0', 'color='])
})

it('lists of objects keep their elements apart in style deepObject', () => {
  expect(decodeURIComponent(query([{ price: 1, tags: ['a'] }, { price: 2 }], 'deepObject'))).toBe(
    'color[0][price]=1&color[0][tags][]=a&color[1][price]=2',
  )
})

it('half of a surrogate pair is refused', () => {
  expect(() => query('\uD800')).toThrow('half of a surrogate pair')
})
