import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, errorTable, PtcError } from '../common/errors.js'
import { toFailure } from './failures.js'

const retried: readonly ErrorCode[] = [
  'TOOL_FAILED',
  'TOOL_TIMED_OUT',
  'TOOL_NOT_REGISTERED',
  'CREDENTIAL_UNAVAILABLE',
  'ATTEMPT_SUPERSEDED',
  'MODEL_PROVIDER_MISSING',
  'MODEL_RATE_LIMIT',
  'MODEL_OVERLOADED',
  'MODEL_SERVER',
  'MODEL_TIMEOUT',
  'RUN_BUSY',
  'WORKER_LOST',
  'MODEL_CONNECTION',
  'MODEL_REPLY_INVALID',
  'MODEL_STREAM',
  'SANDBOX_UNAVAILABLE',
  'SANDBOX_BACKEND_DOWN',
  'SANDBOX_IMAGE_MISSING',
  'VALUE_STORE_UNAVAILABLE',
  'VALUE_STORE_FULL',
  'ENCRYPTION_KEY_UNAVAILABLE',
  'AUDIT_UNAVAILABLE',
  'APPROVAL_REQUEST_FAILED',
  'UNCAUGHT_ERROR',
  'TOOL_SOURCE_FAILED',
]

describe('toFailure', () => {
  it.each(Object.keys(errorTable) as ErrorCode[])(
    'the error %s becomes a failure of this type that is retried according to the table',
    (code) => {
      const failure = toFailure(new PtcError(code, 'no'))
      expect(failure).toBeInstanceOf(ApplicationFailure)
      expect(failure).toMatchObject({ type: code, message: 'no', nonRetryable: !retried.includes(code) })
    },
  )

  it('toFailure keeps the retry delay and the hint of an error', () => {
    const failure = toFailure(new PtcError('MODEL_RATE_LIMIT', 'slow down', { hint: 'Wait.', retryAfterMs: 7_000 }))
    expect(failure).toMatchObject({ message: 'slow down. Wait.', nextRetryDelay: 7_000, nonRetryable: false })
  })

  it('a failure separates message and hint by one full stop, and keeps the stack of the error', () => {
    const thrown = new PtcError('MODEL_AUTH', 'There is no key.', { hint: 'Set one.' })
    expect(toFailure(thrown)).toMatchObject({ message: 'There is no key. Set one.', stack: thrown.stack })
    const asks = new PtcError('AGENT_UNKNOWN', 'No "a". Did you mean "b"?', { hint: 'There are: b.' })
    expect(toFailure(asks).message).toBe('No "a". Did you mean "b"? There are: b.')
  })

  it('a failure has no retry delay of 0, which Temporal interprets as no retry', () => {
    const failure = toFailure(new PtcError('MODEL_RATE_LIMIT', 'now', { retryAfterMs: 0 }))
    expect(failure).toMatchObject({ nextRetryDelay: 1, nonRetryable: false })
  })

  it('the failure of the last attempt is not retried', () => {
    expect(toFailure(new PtcError('TOOL_FAILED', 'no'), true)).toMatchObject({ nonRetryable: true })
  })

  it('toFailure returns a cancellation unchanged', () => {
    const cancelled = new CancelledFailure('CANCELLED')
    expect(toFailure(cancelled)).toBe(cancelled)
  })

  it.each([new TypeError('oops'), 'oops'])('an unexpected error becomes a non-retryable failure: %s', (thrown) => {
    expect(toFailure(thrown)).toMatchObject({ type: 'INTERNAL', nonRetryable: true, message: 'oops' })
  })
})

it('an unreadable thrown value becomes a failure that says so', () => {
  const fail = (): never => {
    throw new Error('a getter')
  }
  for (const thrown of [
    Object.create(null),
    { toString: fail },
    Object.defineProperty(new Error('m'), 'message', { get: fail }),
  ])
    expect(toFailure(thrown)).toMatchObject({ message: 'something was thrown that can not be read', type: 'INTERNAL' })
})
