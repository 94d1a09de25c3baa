import { expect, test } from 'vitest'
import { emojiText, invisibleCharacters } from '../../../../test/support/faults/invisible-characters.js'
import { sanitize, oneLine } from './sanitize.js'

test.each([
  ['an escape sequence', '\x1b[2J\x1b]0;owned\x07', '␛[2J␛]0;owned␇'],
  ['an 8-bit control sequence', '\x9b2J', '<U+009B>2J'],
  ['a carriage return that overwrites the line', 'rm -rf\rls', 'rm -rf␍ls'],
  ['backspaces', 'a\b\x7f', 'a␈␡'],
  ['NUL', 'a\0b', 'a␀b'],
  ['a bidi override', 'user\u202Etxt.exe\u2066', 'user<U+202E>txt.exe<U+2066>'],
  ['invisible characters', 'pay\u200Bpal\uFEFF\u{E0041}', 'pay<U+200B>pal<U+FEFF><U+E0041>'],
  ['line separators', 'a\u2028b\u2029c\x85d', 'a<U+2028>b<U+2029>c<U+0085>d'],
  ['half a character', 'a\uD83Db', 'a\uFFFDb'],
])('shows %s instead of sending it to the terminal', (_what, text, expected) => {
  expect(sanitize(text)).toBe(expected)
})

test.each(invisibleCharacters)('shows %j', (character) => {
  expect(sanitize(`ada${character}x`)).toMatch(/^ada<U\+[0-9A-F]{4,5}>x$/)
})

test('keeps ordinary text of any language', () => {
  const text = 'Zürich 東京 नमस्ते שלום 👩‍👩‍👧 ❤️‍🔥\n  two lines'
  expect(sanitize(text)).toBe(text)
  expect(sanitize(emojiText)).toBe(emojiText)
})

test('sanitizing limits stacked combining marks', () => {
  expect(sanitize(`a${'\u0301'.repeat(500)}b`)).toBe(`a${'\u0301'.repeat(4)}b`)
})

test('sanitizing normalizes Windows line breaks and tabs', () => {
  expect(sanitize('a\r\n\tb')).toBe('a\n  b')
})

test('oneLine returns one line', () => {
  expect(oneLine(' a\n\n  b \r\n c ')).toBe('a b c')
})
