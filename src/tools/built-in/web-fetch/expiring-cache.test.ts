import { expect, it } from 'vitest'
import { ExpiringCache } from './expiring-cache.js'

function cacheWith(limits: { readonly maxEntries?: number; readonly maxSize?: number }) {
  const clock = { now: 0 }
  const cache = new ExpiringCache<string>(
    { maxEntries: 10, maxSize: 100, milliseconds: 1_000, ...limits },
    () => clock.now,
  )
  return { cache, clock }
}

it('a value is kept for its time', () => {
  const { cache, clock } = cacheWith({})
  cache.set('a', 'A', 1)
  clock.now = 999
  expect(cache.get('a')).toBe('A')
  clock.now = 1_000
  expect(cache.get('a')).toBeUndefined()
})

it.each([
  ['entries', { maxEntries: 2 }],
  ['size', { maxSize: 20 }],
])('over the limit of %s the oldest value goes', (_what, limits) => {
  const { cache } = cacheWith(limits)
  for (const key of ['a', 'b', 'a', 'c']) cache.set(key, key, 10)
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c'])
})

it('a value that is larger than all of the cache is not kept, and costs no other value', () => {
  const { cache } = cacheWith({ maxSize: 20 })
  cache.set('a', 'A', 10)
  cache.set('b', 'B', 21)
  expect([cache.get('a'), cache.get('b')]).toEqual(['A', undefined])
})
