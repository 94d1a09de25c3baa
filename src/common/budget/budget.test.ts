import { expect, it } from 'vitest'
import { formatAmount, spentItem } from './budget.js'
import { usedAmounts } from './leases.js'
import { zeroCounts } from '../run/runs.js'

const usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 50 }

it('the usage has all tokens that the model reads and writes, and no cost of a model without a price', () => {
  expect(usedAmounts({ ...zeroCounts, usage, costUsd: 0.5, turns: 2 }, 1_500)).toEqual({
    costUsd: 0.5,
    tokens: 200,
    turns: 2,
    toolCalls: 0,
    seconds: 1.5,
  })
  expect(usedAmounts({ ...zeroCounts, costUsd: null }, 0)).not.toHaveProperty('costUsd')
})

it.each([
  [undefined, undefined],
  [{}, undefined],
  [{ tokens: 201, costUsd: 1 }, undefined],
  [{ tokens: 200 }, 'tokens'],
  [{ costUsd: 0.5, tokens: 1 }, 'costUsd'],
  [{ seconds: 1 }, 'seconds'],
  [{ toolCalls: 1 }, undefined],
] as const)('the spent item of the budget %j is %s', (budget, item) => {
  expect(spentItem(budget, usedAmounts({ ...zeroCounts, usage, costUsd: 0.5 }, 1_500))).toBe(item)
})

it('an unknown cost counts as spent', () => {
  expect(spentItem({ costUsd: 5 }, usedAmounts({ ...zeroCounts, costUsd: null }, 0))).toBe('costUsd')
})

it.each([
  ['costUsd', 2.5, '2.5 US dollars'],
  ['costUsd', 3, '3 US dollars'],
  ['tokens', 1_000, '1000 tokens'],
] as const)('formatAmount formats %s of %d', (item, amount, text) => {
  expect(formatAmount(item, amount)).toBe(text)
})
