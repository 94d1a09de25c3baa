import { describe, expect, it } from 'vitest'
import { lostAttempts, retryDelayMs } from './retry-delay.js'

const attempt = { workflowId: 'w', runId: 'r', activityId: 'a', attempt: 1 }
const lost = (count: number, age = 0) => ({ ...attempt, lost: count, age })

const lostAfter = (ms: number) => ({
  applicationFailureInfo: {
    type: 'WORKER_LOST',
    nextRetryDelay: { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 },
  },
})
const timedOut = { timeoutFailureInfo: { timeoutType: 4 } }
const growing = [1, 10_000, 20_000, 40_000, 80_000, 160_000, 160_000]

describe('the delay after a lost worker', () => {
  it('there is no delay after the first lost worker, then the delay grows', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((count) => retryDelayMs(lost(count)))).toEqual(growing)
  })

  it.each([0, 0.99])('the delay also grows when another worker has delayed the attempt (age %d)', (age) => {
    const delays = [retryDelayMs(lost(1, age))]
    while (delays.length < growing.length) delays.push(retryDelayMs(lost(1, age), lostAfter(delays.at(-1) ?? 0)))
    expect(delays).toEqual(growing.map((ms) => (ms === 1 ? 1 : ms * (1 + age))))
  })

  it('the delay starts again after another failure', () => {
    expect(retryDelayMs(lost(1), { applicationFailureInfo: { type: 'TOOL_FAILED' } })).toBe(1)
    expect(retryDelayMs(lost(1), { applicationFailureInfo: { type: 'WorkerShutdown' } })).toBe(1)
    expect(retryDelayMs(lost(1), { timeoutFailureInfo: { timeoutType: 1 } })).toBe(1)
    expect(retryDelayMs(lost(1), {})).toBe(1)
  })

  it('the delay counts a heartbeat timeout as a lost worker', () => {
    expect(retryDelayMs(lost(1), timedOut)).toBe(10_000)
  })
})

it('counts the lost workers of an attempt, and orders the attempts by age', () => {
  const attempts = [attempt, { ...attempt, activityId: 'b', lost: 1 }, { ...attempt, activityId: 'c' }]
  expect(lostAttempts(attempts)).toEqual([
    { ...attempt, lost: 1, age: 1 },
    { ...attempt, activityId: 'b', lost: 2, age: 0.5 },
    { ...attempt, activityId: 'c', lost: 1, age: 0 },
  ])
  expect(lostAttempts([attempt])).toEqual([lost(1)])
})
