import { describe, expect, it } from 'vitest'
import { truncateMiddle, toTemporalSummary, pluralize, formatCompactNumber, utf8Length } from './text.js'

describe('truncateMiddle', () => {
  it('keeps a text within the limit, and counts the characters omitted from a longer one', () => {
    expect(truncateMiddle('abcdef', 6)).toBe('abcdef')
    expect(truncateMiddle('abcdefgh', 5)).toBe('abc\n[... 3 characters cut ...]\ngh')
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
