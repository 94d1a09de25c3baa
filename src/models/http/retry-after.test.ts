import { describe, expect, it } from 'vitest'
import { retryAfterMsOf } from './retry-after.js'

/** The test does not depend on the local clock. */
const date = 'Sat, 21 Nov 2026 08:00:00 GMT'
const of = (headers: Record<string, string>) => retryAfterMsOf(new Headers({ date, ...headers }))

describe('retryAfterMsOf', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2026 09:30:00 GMT' }, 3_600_000],
    [{ 'retry-after': '999999999' }, 3_600_000],
    [{ 'retry-after-ms': '1500' }, 1_500],
    [{ 'retry-after-ms': '1500', 'retry-after': '60' }, 1_500],
    [{ 'retry-after-ms': 'soon', 'retry-after': '60' }, 60_000],
  ])('reads the retry delay from %j', (headers, expected) => {
    expect(of(headers)).toBe(expected)
  })

  it.each([[{}], [{ 'retry-after': '' }], [{ 'retry-after': 'soon' }], [{ 'retry-after': '-5' }]])(
    'finds no retry delay in %j',
    (headers) => {
      expect(of(headers)).toBeUndefined()
    },
  )

  it('uses the local clock when the server does not send its time', () => {
    const asked = retryAfterMsOf(new Headers({ 'retry-after': new Date(Date.now() + 100_000).toUTCString() }))
    expect(asked).toBeGreaterThan(1_000)
    expect(asked).toBeLessThanOrEqual(100_000)
  })
})
