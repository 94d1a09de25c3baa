import { expect, test } from 'vitest'
import { formatBytes, formatCost, formatDuration, formatTokens } from './format.js'

test.each([
  [-5, '0ms'],
  [0, '0ms'],
  [999, '999ms'],
  [1_000, '1.0s'],
  [59_949, '59.9s'],
  [59_960, '1m'],
  [75_000, '1m 15s'],
  [3_599_700, '1h'],
  [3_720_000, '1h 2m'],
  [90_000_000, '1d 1h'],
])('%i ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [null, 'cost unknown'],
  [0, '$0.00'],
  [0.00001, '<$0.0001'],
  [0.0086, '$0.0086'],
  [0.5, '$0.50'],
  [12.345, '$12.35'],
])('%d dollars is %s', (usd, text) => {
  expect(formatCost(usd)).toBe(text)
})

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [12_345, '12.1 KB'],
  [1_048_575, '1.0 MB'],
  [5_242_880, '5.0 MB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('formatted tokens include those from the cache, and show them separately', () => {
  const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 1_000, cacheWriteTokens: 200 }
  expect(formatTokens(usage)).toBe('1.3k in (1.0k cached) · 20 out')
})
