import { expect, it } from 'vitest'
import { contextWindowOf } from './context-windows.js'
import { defaultModel } from './prices.js'

it('knows the context window of the default model and of dated snapshots, and of no other name', () => {
  const of = (name: string, provider = 'anthropic') => contextWindowOf({ provider, name })
  expect(of(defaultModel)).toBe(1_000_000)
  expect(of('claude-haiku-4-5-20251001')).toBe(200_000)
  expect(of('claude-opus-5-9')).toBeUndefined()
  expect(of('constructor')).toBeUndefined()
  expect(of('claude-sonnet-5-5', 'bedrock')).toBeUndefined()
})
