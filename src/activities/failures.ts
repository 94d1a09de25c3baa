import { ApplicationFailure, TemporalFailure } from '@temporalio/common'
import { messageOf, PtcError } from '../common/errors.js'
import { isLogged, markLogged } from '../common/telemetry/logged-failures.js'

/**
 * Converts an error to a Temporal failure. The failure's type is the error's code, and the table in common/errors.ts
 * decides whether it is retryable. Temporal's own failures (cancellation) are returned unchanged.
 *
 * @param lastAttempt makes the failure non-retryable
 */
export function toFailure(thrown: unknown, lastAttempt = false): Error {
  if (thrown instanceof TemporalFailure) return thrown
  if (!PtcError.isInstance(thrown)) {
    return ApplicationFailure.create({ message: messageOf(thrown), type: 'INTERNAL', nonRetryable: true })
  }
  const { code, message, hint, retryable, retryAfterMs, details, stack } = thrown
  const failure = ApplicationFailure.create({
    message: hint === undefined ? message : `${message}${/[.?!]$/.test(message) ? '' : '.'} ${hint}`,
    type: code,
    nonRetryable: lastAttempt || !retryable,
    ...(details !== undefined && { details: [details] }),
    // Temporal interprets a delay of 0 as "do not retry".
    ...(retryAfterMs === undefined ? {} : { nextRetryDelay: Math.max(retryAfterMs, 1) }),
  })
  // The Temporal UI shows the stack of the original error.
  if (stack !== undefined) failure.stack = stack
  return isLogged(thrown) ? markLogged(failure) : failure
}
