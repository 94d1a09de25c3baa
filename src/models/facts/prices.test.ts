import { describe, expect, it } from 'vitest'
import { costOf, defaultModel } from './prices.js'

const million = 1_000_000
const usage = (inputTokens: number, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
})

describe('costOf', () => {
  it('the cost of a call adds up all four kinds of tokens', () => {
    expect(costOf('claude-sonnet-5-5', usage(million, million, million, million))).toBeCloseTo(2 + 10 + 0.1 + 2.5, 10)
  })

  it('the cost of a dated snapshot is that of its model', () => {
    expect(costOf('claude-haiku-4-5-20251001', usage(million))).toBe(1)
    expect(costOf('claude-haiku-4-5@20251001', usage(million))).toBe(1)
  })

  it('prices match the longest name: a point release is not its base model', () => {
    expect(costOf('claude-opus-5-5', usage(million))).toBe(4)
    expect(costOf('claude-opus-5-5-20260923', usage(million))).toBe(4)
    expect(costOf('claude-opus-5', usage(million))).toBe(5)
  })

  it('there is no price for a model whose name only starts like a known one', () => {
    expect(costOf('claude-opus-5-9', usage(million))).toBeNull()
    expect(costOf('claude-opus-5-turbo', usage(million))).toBeNull()
  })

  it('there is no price for other and scripted models', () => {
    expect(costOf('scripted', usage(million))).toBeNull()
    expect(costOf('', usage(million))).toBeNull()
    expect(costOf('constructor', usage(million))).toBeNull()
  })

  it('the long-prompt price applies to every token when cached and uncached input together exceed the threshold', () => {
    expect(costOf('claude-haiku-5-5', usage(40_000, 1_000, 60_000))).toBeCloseTo(0.004 + 0.0005 + 0.0006, 10)
    expect(costOf('claude-haiku-5-5', usage(40_001, 1_000, 60_000))).toBeCloseTo(0.0200005 + 0.0025 + 0.003, 10)
  })

  it('a call without usage costs zero', () => {
    expect(costOf(defaultModel, usage(0))).toBe(0)
  })
})
