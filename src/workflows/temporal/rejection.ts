import { ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'

/** Returns the failure by which an update is rejected. */
export function rejection(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}
