import { describe, expect, it } from 'vitest'
import {
  formatCompactNumber,
  pluralize,
  takeEnd,
  takeStart,
  toOneLine,
  toTemporalSummary,
  truncateEnd,
  truncateMiddle,
  utf8Length,
} from './text.js'

describe('truncateMiddle', () => {
  it('truncateMiddle keeps a text within the limit, and counts the characters omitted from a longer one', () => {
    expect(truncateMiddle('abcdef', 6)).toBe('abcdef')
    expect(truncateMiddle('abcdefgh', 5)).toBe('abc\n[... 3 characters cut ...]\ngh')
  })
})

describe('every cut', () => {
  const texts = ['😀'.repeat(9), `a${'😀'.repeat(9)}`, 'abcdefg', '', '\ud83d\ud83d\ude00\ude00']

  it.each(texts)('every cut of %j is between characters, and within the limit', (text) => {
    for (let limit = -1; limit <= text.length + 1; limit++) {
      const start = takeStart(text, limit)
      const end = takeEnd(text, limit)
      expect(text.startsWith(start) && text.endsWith(end)).toBe(true)
      for (const cut of [start, end]) {
        expect(cut.length).toBeLessThanOrEqual(Math.max(limit, 0))
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(limit, text.length) - 1)
      }
      // Both parts together are the text, so no pair was split.
      expect(takeStart(text, limit).toWellFormed() + text.slice(start.length).toWellFormed()).toBe(text.toWellFormed())
      expect(text.slice(0, text.length - end.length).toWellFormed() + end.toWellFormed()).toBe(text.toWellFormed())
      if (text.isWellFormed())
        for (const cut of [truncateMiddle(text, limit), truncateEnd(text, limit)]) expect(cut.isWellFormed()).toBe(true)
    }
  })

  it('a line is cut between characters', () => {
    for (const text of ['😀'.repeat(200), `a${'😀'.repeat(200)}`]) {
      expect(toOneLine(text).isWellFormed()).toBe(true)
      expect(toOneLine(text).length).toBeLessThanOrEqual(200)
    }
  })
})

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1.0k'],
  [999_949, '999.9k'],
  [999_950, '1.0M'],
  [4_100_000, '4.1M'],
])('formatCompactNumber(%i) is %s', (value, text) => {
  expect(formatCompactNumber(value)).toBe(text)
})

it('pluralize adds an s except for one', () => {
  expect([pluralize(0, 'call'), pluralize(1, 'call'), pluralize(2, 'call')]).toEqual(['0 calls', '1 call', '2 calls'])
})

it('utf8Length counts bytes', () => {
  expect(utf8Length('aé😀')).toBe(7)
})

it.each(['short', 'é'.repeat(1_000), '😀"\\'.repeat(300)])(
  'toTemporalSummary stays within the size limit of Temporal (%#)',
  (text) => {
    const fitting = toTemporalSummary(text)
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(400)
    expect(text.startsWith(fitting)).toBe(true)
    expect(fitting.length).toBeGreaterThan(Math.min(text.length, 20) - 1)
  },
)

it.each([
  ['escape sequences', 'close: \u001B]0;owned\u0007\u009B31m\nend', 'close: ]0;owned 31m end'],
  ['format characters that change the text direction', 'user\u202Etxt.exe\u2066', 'usertxt.exe'],
  [
    'Markdown links and images',
    'see [the log](https://evil.test) ![](https://evil.test)',
    'see [the log] (https://evil.test) ![] (https://evil.test)',
  ],
  ['lone surrogates', 'a\uD800b', 'ab'],
  ['only control characters', '\u0007'.repeat(500), ''],
])('toTemporalSummary removes %s', (_what, text, summary) => {
  expect(toTemporalSummary(text)).toBe(summary)
})
