import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PtcError } from '../common/errors.js'
import { setActivityChannel } from './activity-channel.js'
import { type ActivityScope, runActivity } from './run-activity.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Runs an activity with a heartbeat timeout of 9 s, and collects its heartbeats. */
function start(
  work: (scope: ActivityScope) => Promise<unknown>,
  info: { readonly attempt?: number; readonly heartbeatDetails?: unknown } = {},
  isLastAttempt?: (attempt: number, earlierDetails: unknown) => boolean,
) {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 9_000, ...info })
  const heartbeats: unknown[] = []
  environment.on('heartbeat', (details) => heartbeats.push(details))
  const result = environment.run(() => runActivity(work, isLastAttempt))
  result.catch(() => undefined)
  return { environment, heartbeats, result }
}

const waitForAbort = ({ signal }: ActivityScope): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

it('an activity sends three heartbeats in each heartbeat timeout, and none after its end', async () => {
  const { heartbeats, result } = start(() => new Promise((resolve) => setTimeout(resolve, 10_000, 'done')))
  await vi.advanceTimersByTimeAsync(9_500)
  expect(heartbeats).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await result).toBe('done')
  expect(heartbeats).toHaveLength(3)
  expect(vi.getTimerCount()).toBe(0)
})

it('heartbeats have the latest details, at first those of an earlier attempt', async () => {
  const work = async ({ report, previousDetails }: ActivityScope) => {
    expect(previousDetails).toEqual({ page: 1 })
    await vi.advanceTimersByTimeAsync(3_500)
    report({ page: 2 })
    report({ page: 3 })
    await vi.advanceTimersByTimeAsync(3_500)
  }
  const { heartbeats, result } = start(work, { attempt: 2, heartbeatDetails: { page: 1 } })
  await result
  expect(heartbeats).toEqual([{ page: 1 }, { page: 3 }])
})

it('an activity sends unsent heartbeat details before it fails', async () => {
  const { heartbeats, result } = start(({ report }) => {
    report({ page: 2 })
    throw new PtcError('TOOL_FAILED', 'broken')
  })
  await expect(result).rejects.toMatchObject({ type: 'TOOL_FAILED' })
  expect(heartbeats).toEqual([{ page: 2 }])
})

it('an activity gets its cancellation as a signal, and ends as cancelled', async () => {
  const { environment, result } = start(waitForAbort)
  await vi.advanceTimersByTimeAsync(0)
  environment.cancel()
  await expect(result).rejects.toThrow(CancelledFailure)
  expect(vi.getTimerCount()).toBe(0)
})

it('the scope of an activity has the ids of its run, and its attempt', async () => {
  const { result } = start(({ attempt, workflowId, runId }) => Promise.resolve({ attempt, workflowId, runId }), {
    attempt: 4,
  })
  expect(await result).toEqual({ attempt: 4, workflowId: 'test', runId: '00000000-0000-0000-0000-000000000000' })
})

it('the failure of the last attempt of an activity is non-retryable', async () => {
  const fail = () => Promise.reject(new PtcError('SANDBOX_UNAVAILABLE', 'no daemon'))
  const isLast = (attempt: number, details: unknown) => attempt >= 3 && details === 'known'
  const failure = async (attempt: number) =>
    start(fail, { attempt, heartbeatDetails: 'known' }, isLast).result.catch((thrown: unknown) => thrown)
  expect(await failure(2)).toMatchObject({ type: 'SANDBOX_UNAVAILABLE', nonRetryable: false })
  expect(await failure(3)).toMatchObject({ type: 'SANDBOX_UNAVAILABLE', nonRetryable: true })
  expect(await failure(3)).toBeInstanceOf(ApplicationFailure)
})

it('an attempt that fails after it has stored a result returns the result, which says what has happened', async () => {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 9_000 })
  const { context } = environment
  const store = () => Promise.resolve(true)
  const channel = { signal: context.cancellationSignal, heartbeat: context.heartbeat, store }
  const run = (work: (scope: ActivityScope) => Promise<unknown>) =>
    environment.run(() => {
      setActivityChannel(context, { ...channel, runMonitored: (part) => part() })
      return runActivity(work, () => true)
    })
  const fail = () => Promise.reject(new PtcError('UNCAUGHT_ERROR', 'of a sink'))
  expect(await run(({ storeResult }) => storeResult('so far').then(fail))).toBe('so far')
  await expect(run(fail)).rejects.toMatchObject({ type: 'UNCAUGHT_ERROR' })
})
