import { ApplicationFailure, TemporalFailure } from '@temporalio/common'
import { messageOf, PtcError } from '../common/errors.js'

/**
 * The one place where an error becomes a Temporal failure: its type is the error's code, and the table in
 * common/errors.ts says whether it is retried. Temporal's own failures (cancellation) pass.
 *
 * @param lastAttempt no retry, whatever the table says
 */
export function toFailure(thrown: unknown, lastAttempt = false): Error {
  if (thrown instanceof TemporalFailure) return thrown
  if (!PtcError.isInstance(thrown)) {
    return ApplicationFailure.create({ message: messageOf(thrown), type: 'INTERNAL', nonRetryable: true })
  }
  const { code, message, hint, retryable, retryAfterMs, stack } = thrown
  const failure = ApplicationFailure.create({
    message: hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}`,
    type: code,
    nonRetryable: lastAttempt || !retryable,
    // Temporal takes a delay of nothing for "never again".
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: Math.max(retryAfterMs, 1) }),
  })
  // The Temporal UI shows where the error was made.
  if (stack !== undefined) failure.stack = stack
  return failure
}
