import { expect, test } from 'vitest'
import { PromptCache } from './prompt-cache.js'
import { parseAs } from './read-request.js'
import { requestSchema, type MessagesRequest } from './request-schema.js'
import { countTokens } from './token-count.js'

const schema = requestSchema([]).messages['2026-10-21']
const mark = { cache_control: { type: 'ephemeral' } }
const hourMark = { cache_control: { type: 'ephemeral', ttl: '1h' } }

/** 100 tokens of text. */
const long = 'abcdefg'.repeat(50)

function request(system: readonly object[], messages: readonly object[], more: object = {}): MessagesRequest {
  return parseAs(schema, { model: 'claude-sonnet-5', max_tokens: 10, system, messages, ...more })
}

function text(value: string, more: object = {}): object {
  return { type: 'text', text: value, ...more }
}

const ask = { role: 'user', content: 'Hello, Claude' }

test('the prompt cache writes a marked prefix once and then reads it', () => {
  const cache = new PromptCache(100)
  const asked = request([text(long, mark)], [ask])
  const rest = countTokens(asked) - 100

  expect(cache.use(asked)).toEqual({ uncached: rest, cacheRead: 0, written5m: 100, written1h: 0 })
  expect(cache.use(asked)).toEqual({ uncached: rest, cacheRead: 100, written5m: 0, written1h: 0 })
})

test('the prompt cache reads the earlier part of a growing conversation and writes the new part', () => {
  const cache = new PromptCache(50)
  const first = request([text(long)], [{ role: 'user', content: [text(long, mark)] }])
  const second = request(
    [text(long)],
    [
      { role: 'user', content: [text(long)] },
      { role: 'assistant', content: long },
      { role: 'user', content: [text(long, mark)] },
    ],
  )

  const before = cache.use(first)
  const after = cache.use(second)

  expect(before).toEqual({ uncached: 0, cacheRead: 0, written5m: countTokens(first), written1h: 0 })
  expect(after).toEqual({
    uncached: 0,
    cacheRead: countTokens(first),
    written5m: countTokens(second) - countTokens(first),
    written1h: 0,
  })
})

test('the prompt cache does not keep a prefix below the minimum', () => {
  const cache = new PromptCache(101)
  const asked = request([text(long, mark)], [ask])

  cache.use(asked)

  expect(cache.use(asked)).toEqual({ uncached: countTokens(asked), cacheRead: 0, written5m: 0, written1h: 0 })
})

test('the prompt cache misses with another model or a changed tool', () => {
  const cache = new PromptCache(10)
  const tools = [{ name: 'x', input_schema: { type: 'object' } }]
  cache.use(request([text(long, mark)], [ask]))

  expect(cache.use(request([text(long, mark)], [ask], { model: 'claude-opus-5' })).cacheRead).toBe(0)
  expect(cache.use(request([text(long, mark)], [ask], { tools })).cacheRead).toBe(0)
})

test('the prompt cache keeps a prefix for five minutes after its last use, or an hour', () => {
  let now = 0
  const cache = new PromptCache(10, () => now)
  const short = request([text(long, mark)], [ask])
  const lasting = request([text(long.toUpperCase(), hourMark)], [ask])
  cache.use(short)

  expect(cache.use(lasting)).toMatchObject({ written5m: 0, written1h: 100 })
  now = 299_000
  expect(cache.use(short).cacheRead).toBe(100)
  now = 598_000
  expect(cache.use(short).cacheRead).toBe(100)
  now = 898_001
  expect(cache.use(short).cacheRead).toBe(0)
  expect(cache.use(lasting).cacheRead).toBe(100)
})

test('the prompt cache keeps the whole prompt with a top-level cache_control', () => {
  const cache = new PromptCache(10)
  const asked = request([text(long)], [ask], mark)

  expect(cache.use(asked)).toMatchObject({ uncached: 0, written5m: countTokens(asked) })
})

test('the prompt cache ignores cache_control and the order of keys in counts and prefixes', () => {
  const tool = { name: 'x', description: 'y', input_schema: { type: 'object' } }
  const turned = { input_schema: { type: 'object' }, description: 'y', name: 'x', ...mark }

  expect(countTokens(request([], [ask], { tools: [turned] }))).toBe(countTokens(request([], [ask], { tools: [tool] })))
})
