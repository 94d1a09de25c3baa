import { describe, expect, it } from 'vitest'
import { LatestAttempts } from './latest-attempts.js'

const { signal } = new AbortController()

describe('LatestAttempts', () => {
  it('a first attempt starts at once, and only the last of concurrent retries starts', async () => {
    const attempts = new LatestAttempts()
    await attempts.claim('a call', 1, signal)
    const retries = [2, 3, 4, 5, 6].map((attempt) => attempts.claim('a call', attempt, signal))
    const other = attempts.claim('another call', 2, signal)
    const settled = await Promise.allSettled(retries)
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected', 'fulfilled'])
    expect(settled[0]).toMatchObject({ reason: { type: 'ATTEMPT_SUPERSEDED', nonRetryable: false } })
    await other
  })

  it('a retry without a later one starts, and a cancelled attempt is rejected', async () => {
    const attempts = new LatestAttempts()
    await attempts.claim('a call', 1, signal)
    await attempts.claim('a call', 2, signal)
    await expect(attempts.claim('a call', 3, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
  })
})
