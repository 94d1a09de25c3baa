import { expect, it } from 'vitest'
import { readContentType } from './content-type.js'

it.each([
  ['text/html; charset=UTF-8', { type: 'text/html', charset: 'UTF-8', kind: 'html' }],
  ['TEXT/HTML;x=1;charset="latin1"', { type: 'text/html', charset: 'latin1', kind: 'html' }],
  ['application/xhtml+xml', { type: 'application/xhtml+xml', charset: undefined, kind: 'html' }],
  ['application/ld+json', { type: 'application/ld+json', charset: undefined, kind: 'text' }],
  ['text/csv', { type: 'text/csv', charset: undefined, kind: 'text' }],
  ['application/pdf', { type: 'application/pdf', charset: undefined, kind: 'pdf' }],
  ['image/png', { type: 'image/png', charset: undefined, kind: undefined }],
  ['image/svg+xml', { type: 'image/svg+xml', charset: undefined, kind: 'text' }],
])('the content type %s is read', (header, parsed) => {
  expect(readContentType(header)).toEqual(parsed)
})

it.each([
  ['%PDF-1.7 x', 'pdf'],
  ['  <!DOCTYPE html><p>x', 'html'],
  ['<html>', 'html'],
  ['plain', 'text'],
  ['{"a": 1}', 'text'],
  ['\x89PNG\0', undefined],
])('without a valid header, the body %j decides', (body, kind) => {
  for (const header of [undefined, '', 'nonsense', 'a b/c'])
    expect(readContentType(header, Buffer.from(body, 'latin1'))).toMatchObject({ type: '', kind })
})
