import { expect, it } from 'vitest'
import type { JsonValue } from '../../../../common/json/json.js'
import type { FormMember } from '../operation.js'
import { encodeBody } from './encode-body.js'

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString()

function form(value: JsonValue, members: Readonly<Record<string, FormMember>> = {}): string {
  const body = {
    kind: 'form',
    contentType: 'application/x-www-form-urlencoded',
    members: new Map(Object.entries(members)),
  } as const
  return textOf(encodeBody(body, value).body)
}

function multipart(value: JsonValue, members: Readonly<Record<string, FormMember>> = {}) {
  const body = {
    kind: 'multipart',
    contentType: 'multipart/form-data',
    members: new Map(Object.entries(members)),
  } as const
  const { body: bytes, contentType } = encodeBody(body, value)
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': contentType } }).formData()
}

it('a form repeats lists, and has objects as JSON', () => {
  expect(form({ name: 'a b+c', tags: ['x', 'y'], at: { x: 1 }, none: null, no: false })).toBe(
    'name=a+b%2Bc&tags=x&tags=y&at=%7B%22x%22%3A1%7D&no=false',
  )
})

it('a member of a form may have a style of its own', () => {
  const serialization = { style: 'deepObject', explode: true, allowReserved: false } as const
  const text = form(
    { items: [{ price: 'p_1' }], card: { cvc: '1' } },
    {
      items: { serialization, isBinary: false },
      card: { serialization, isBinary: false },
    },
  )
  expect(decodeURIComponent(text)).toBe('items[0][price]=p_1&card[cvc]=1')
})

it('a multipart body has files as bytes, objects as JSON, and lists as several parts', async () => {
  const file = { isBinary: true, contentType: 'image/png' }
  const data = await multipart(
    { 'a"b\r\n': 'text', photo: Buffer.from([0, 255, 10]).toString('base64'), meta: { x: 1 }, tags: ['x', 'y'] },
    { photo: file },
  )
  const photo = data.get('photo') as File
  expect([...new Uint8Array(await photo.arrayBuffer())]).toEqual([0, 255, 10])
  expect(photo).toMatchObject({ name: 'photo', type: 'image/png' })
  expect(data.get('meta')).toBe('{"x":1}')
  expect(data.getAll('tags')).toEqual(['x', 'y'])
  expect([...data.keys()][0]).toBe('a"b\r\n')
})

it.each([['no base64!'], [5], ['abcde']])('a file that is not Base64 is refused: %j', (value) => {
  expect(() => encodeBody({ kind: 'binary', contentType: 'image/png' }, value)).toThrow('must be bytes in Base64')
})

it('a form must be an object, and text is sent as it is', () => {
  expect(() => form([1])).toThrow('must be an object')
  expect(textOf(encodeBody({ kind: 'text', contentType: 'text/plain' }, '{"a": 1}').body)).toBe('{"a": 1}')
  expect(textOf(encodeBody({ kind: 'json', contentType: 'application/json' }, [1, 'ü']).body)).toBe('[1,"ü"]')
})
