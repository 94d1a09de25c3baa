import { describe, expect, it, test } from 'vitest'
import { truncateToWidth, displayWidth, wrap, wrapWords } from './display-width.js'
import { sanitize } from './sanitize.js'

test.each([
  ['abc', 3],
  ['Zürich', 6],
  ['e\u0301', 1],
  ['東京', 4],
  ['한국어', 6],
  ['ｱｲｳ', 3],
  ['Ａ！', 4],
  ['👩‍👩‍👧', 2],
  ['🇨🇭', 2],
  ['❤️', 2],
  ['✓ → … │', 7],
])('the text %s takes %i columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdefg', 6, 'abcde…'],
  ['東京都', 6, '東京都'],
  ['東京都', 5, '東京…'],
  ['東京都', 4, '東…'],
  ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
  ['ab', 1, '…'],
  ['ab', 0, ''],
])('the text %s cut to %i columns is %s', (text, columns, expected) => {
  expect(truncateToWidth(text, columns)).toBe(expected)
  expect(displayWidth(truncateToWidth(text, columns))).toBeLessThanOrEqual(columns)
})

test('wrap breaks at spaces, and inside a word only if it is too long', () => {
  expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
  expect(wrap('abcdefghijkl', 5)).toEqual(['abcde', 'fghij', 'kl'])
  expect(wrap('東京都', 3)).toEqual(['東', '京', '都'])
  expect(wrap('', 5)).toEqual([''])
})

test('wrap loses no text', () => {
  const text = 'one two  three 東京都 fourfivesixseven eight'
  for (let columns = 1; columns < 50; columns += 1) {
    expect(wrap(text, columns).join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
  }
})

test('measures, truncates and wraps a long line of text in linear time', () => {
  for (const character of ['é', '東', '👩‍👩‍👧', '🇨🇭', 'e\u0301\u0302', ' ', '\u0301']) {
    const text = character.repeat(200_000 / character.length)
    const began = process.cpuUsage()
    const width = displayWidth(text)
    expect(wrap(text, 80).join('').trim()).toBe(text.trim())
    expect(displayWidth(truncateToWidth(text, 80))).toBeLessThanOrEqual(80)
    // This takes minutes when the segmenter gets the whole line.
    expect(process.cpuUsage(began).user).toBeLessThan(20_000_000)
    expect(width).toBe((displayWidth(character.repeat(10)) / 10) * (text.length / character.length))
  }
})

test.each([
  ['emoji that are joined', '👩‍👩‍👧'],
  ['stacked marks', `e${'\u0301'.repeat(9)}`],
  ['escape sequences', '\x1b[31m東'],
])('sanitizes, truncates and wraps a megabyte of %s in seconds', (_what, piece) => {
  const began = process.cpuUsage()
  const text = sanitize(piece.repeat(1_000_000 / piece.length))
  expect(displayWidth(truncateToWidth(text, 80))).toBeLessThanOrEqual(80)
  expect(wrap(text, 80).join('')).toBe(text)
  // string-width, wrap-ansi and cli-truncate segment a whole text: 4, 9 and 4 s for 100 kB of accents, and 100 times
  // as long for a megabyte.
  expect(process.cpuUsage(began).user).toBeLessThan(20_000_000)
})

describe('wrapWords', () => {
  it('wrapWords breaks only between words, and keeps a longer word whole', () => {
    expect(wrapWords('read the next message', 10)).toEqual(['read the', 'next', 'message'])
    const url = 'http://127.0.0.1:8233/namespaces/default/workflows/r1'
    expect(wrapWords(`see ${url} there`, 20)).toEqual(['see', url, 'there'])
    expect(wrapWords('short', 10)).toEqual(['short'])
    expect(wrapWords('', 10)).toEqual([''])
  })

  it('wrapWords keeps text in columns, and needs linear time', () => {
    expect(wrapWords('UI        http://x', 40)).toEqual(['UI        http://x'])
    expect(wrapWords('a '.repeat(100_000), 80).length).toBeGreaterThan(1_000)
  })
})
