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
  ['\uFEFF\uFEFF{}', '{}'],
  ['a\uFEFFb', 'a\uFEFFb'],
  ['\uFFFD', '\uFFFD'],
])('decodeText decodes %j', (text, expected) => {
  expect(decode(Buffer.from(text))).toBe(expected)
})

const nulls = (line: number) => `notes.py looks like UTF-16 or a binary file, not UTF-8: line ${line} has a null byte`

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
  ['UTF-16 without a mark, cut', utf16('KEY=1').subarray(0, 9), nulls(1)],
  ['UTF-16 without a mark, of another alphabet', utf16('имя=1\nb=2'), nulls(1)],
  ['a null byte', Buffer.from('one\ntwo\0three'), nulls(2)],
])('refuses %s by the name of the file', (_, content, message) => {
  expect(() => decode(content)).toThrow(
    expect.objectContaining({ code: 'RUN_INPUT_INVALID', message, hint: expect.stringContaining('Save it as UTF-8') }),
  )
})

it('names Latin-1 only for a text without null bytes', () => {
  const latin = expect.objectContaining({ hint: expect.stringContaining('iconv -f LATIN1') }) as Error
  expect(() => decode(Buffer.from('"é"', 'latin1'))).toThrow(latin)
  for (const content of [utf16('имя=1'), utf16('KEY=1').subarray(0, 9), bytes(0), Buffer.from('é\n\0', 'latin1')])
    expect(() => decode(content)).toThrow(
      expect.objectContaining({ hint: expect.not.stringContaining('LATIN1') as string }) as Error,
    )
})
