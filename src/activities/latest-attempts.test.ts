import { describe, expect, it } from 'vitest'
import { LatestAttempts } from './latest-attempts.js'

const { signal } = new AbortController()

describe('LatestAttempts', () => {
  it('lets a first attempt begin at once, and of retries that come together only the last', async () => {
    const attempts = new LatestAttempts()
    await attempts.begin('a call', 1, signal)
    const retries = [2, 3, 4, 5, 6].map((attempt) => attempts.begin('a call', attempt, signal))
    const other = attempts.begin('another call', 2, signal)
    const settled = await Promise.allSettled(retries)
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected', 'fulfilled'])
    expect(settled[0]).toMatchObject({ reason: { type: 'SUPERSEDED', nonRetryable: false } })
    await other
  })

  it('lets a retry begin that has nothing after it, and stops waiting when it is cancelled', async () => {
    const attempts = new LatestAttempts()
    await attempts.begin('a call', 1, signal)
    await attempts.begin('a call', 2, signal)
    await expect(attempts.begin('a call', 3, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
  })
})
