import { expect, it } from 'vitest'
import { decodeBody } from './decode-body.js'

const latin = Buffer.from('caf\xe9', 'latin1')
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')

it.each([
  ['the charset of the header', latin, 'iso-8859-1', 'café'],
  ['the charset of the header in upper case', latin, 'ISO-8859-1', 'café'],
  ['UTF-8 without a charset', Buffer.from('café'), undefined, 'café'],
  ['UTF-8 for an unknown charset', Buffer.from('café'), 'x-no-such', 'café'],
  ['UTF-8 for a charset that browsers refuse', Buffer.from('café'), 'utf-7', 'café'],
  ['a byte order mark before the header', Buffer.from('\uFEFFcafé'), 'iso-8859-1', 'café'],
  ['the mark of UTF-16', utf16('café'), undefined, 'café'],
  ['U+FFFD for bytes that are not of the charset', latin, 'utf-8', 'caf\uFFFD'],
  ['Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'shift_jis', '日本'],
])('a body is decoded by %s', (_what, bytes, label, text) => {
  expect(decodeBody(bytes, label, false)).toBe(text)
})

it('the charset in an HTML page counts without one in the header, and only there', () => {
  const page = Buffer.concat([Buffer.from('<meta http-equiv=x content="text/html; charset=windows-1252">'), latin])
  expect(decodeBody(page, undefined, true)).toMatch(/café$/)
  expect(decodeBody(page, 'utf-8', true)).toMatch(/caf\uFFFD$/)
  expect(decodeBody(page, undefined, false)).toMatch(/caf\uFFFD$/)
  const lying = Buffer.concat([Buffer.from('<meta charset="utf-16">'), Buffer.from('café')])
  expect(decodeBody(lying, undefined, true)).toMatch(/café$/)
})
