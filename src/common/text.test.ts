import { describe, expect, it } from 'vitest'
import { cutMiddle, fitSummary, plural, shortNumber, utf8Length } from './text.js'

describe('cutMiddle', () => {
  it('leaves what fits, and says how much of the rest is missing', () => {
    expect(cutMiddle('abcdef', 6)).toBe('abcdef')
    expect(cutMiddle('abcdefgh', 5)).toBe('abc\n[... 3 characters cut ...]\ngh')
  })
})

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1.0k'],
  [999_949, '999.9k'],
  [999_950, '1.0M'],
  [4_100_000, '4.1M'],
])('shortNumber(%i) is %s', (value, text) => {
  expect(shortNumber(value)).toBe(text)
})

it('plural counts', () => {
  expect([plural(0, 'call'), plural(1, 'call'), plural(2, 'call')]).toEqual(['0 calls', '1 call', '2 calls'])
})

it('utf8Length counts bytes', () => {
  expect(utf8Length('aé😀')).toBe(7)
})

it.each(['short', 'é'.repeat(1_000), '😀"\\'.repeat(300)])(
  'fitSummary keeps within what Temporal takes as JSON (%#)',
  (text) => {
    const fitting = fitSummary(text)
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThanOrEqual(400)
    expect(text.startsWith(fitting)).toBe(true)
    expect(fitting.length).toBeGreaterThan(Math.min(text.length, 20) - 1)
  },
)

it.each([
  ['escape sequences', 'close: \u001B]0;owned\u0007\u009B31m\nend', 'close: ]0;owned 31m end'],
  ['changes of the direction of text', 'user\u202Etxt.exe\u2066', 'usertxt.exe'],
  [
    'Markdown links and images',
    'see [the log](https://evil.test) ![](https://evil.test)',
    'see [the log] (https://evil.test) ![] (https://evil.test)',
  ],
  ['half characters', 'a\uD800b', 'ab'],
  ['only control characters', '\u0007'.repeat(500), ''],
])('fitSummary takes out %s', (_what, text, summary) => {
  expect(fitSummary(text)).toBe(summary)
})
