import { expect, it } from 'vitest'
import { describeCompaction } from './compaction.js'

it.each([
  [{}, 'of 161.0k tokens'],
  [{ tokensAfter: 90_000, shortened: 1, summarized: 0 }, '161.0k to 90.0k tokens: 1 result shortened'],
  [
    { tokensAfter: 90_000, shortened: 2, summarized: 30 },
    '161.0k to 90.0k tokens: 2 results shortened, 30 messages summarized',
  ],
  [{ tokensAfter: 161_000, problem: 'too\nfew' }, '161.0k to 161.0k tokens: no summary: too few'],
  [{ tokensAfter: 161_000 }, '161.0k to 161.0k tokens: nothing to shorten'],
])('describes the compaction %o', (figures, text) => {
  expect(describeCompaction({ tokensBefore: 161_000, ...figures })).toBe(text)
})
