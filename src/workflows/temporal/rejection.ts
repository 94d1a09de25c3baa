import { ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'

/** The failure of an update. */
export function rejection(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}
