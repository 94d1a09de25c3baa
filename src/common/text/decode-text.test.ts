import { expect, it } from 'vitest'
import { decodeText } from './decode-text.js'

const decode = (bytes: Uint8Array) => decodeText(bytes, 'notes.py', 'RUN_INPUT_INVALID')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const bytes = (...values: number[]) => Uint8Array.from(values)

it.each([
  ['', ''],
  ['print("é 😀")\r\n', 'print("é 😀")\r\n'],
  ['\uFEFFprint(1)', 'print(1)'],
  ['\uFEFF', ''],
  ['a\uFEFFb', 'a\uFEFFb'],
  ['\uFFFD', '\uFFFD'],
])('decodeText decodes %j', (text, expected) => {
  expect(decode(Buffer.from(text))).toBe(expected)
})

it.each([
  ['UTF-16 of Windows', utf16('\uFEFFprint(1)'), 'notes.py is UTF-16, not UTF-8'],
  ['UTF-16 of an odd number of bytes', Buffer.concat([utf16('\uFEFFa'), bytes(1)]), 'notes.py is UTF-16, not UTF-8'],
  ['big-endian UTF-16', utf16('\uFEFFprint(1)').swap16(), 'notes.py is UTF-16, not UTF-8'],
  ['UTF-16 without a mark', utf16('KEY=1'), 'notes.py is UTF-16, not UTF-8'],
  ['big-endian UTF-16 without a mark', utf16('KEY=1').swap16(), 'notes.py is UTF-16, not UTF-8'],
  ['an empty text in UTF-16', bytes(0xff, 0xfe), 'notes.py is UTF-16, not UTF-8'],
  ['UTF-32', bytes(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), 'notes.py is UTF-32, not UTF-8'],
  ['big-endian UTF-32', bytes(0, 0, 0xfe, 0xff, 0, 0, 0, 0x61), 'notes.py is UTF-32, not UTF-8'],
  ['Latin-1', Buffer.from('# coding: latin-1\nx = "é"\n', 'latin1'), 'notes.py is not UTF-8: line 2 has other bytes'],
  ['half a character at the end', Buffer.from('é').subarray(0, 1), 'notes.py is not UTF-8: line 1 has other bytes'],
  ['half a surrogate pair', bytes(0xed, 0xa0, 0xbd), 'notes.py is not UTF-8: line 1 has other bytes'],
  ['a null byte', Buffer.from('one\ntwo\0three'), 'notes.py is not UTF-8: line 2 has a null byte'],
])('decodeText refuses %s with the name of the file', (_, content, message) => {
  expect(() => decode(content)).toThrow(
    expect.objectContaining({ code: 'RUN_INPUT_INVALID', message, hint: expect.stringContaining('Save it as UTF-8') }),
  )
})
