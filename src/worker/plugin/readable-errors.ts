import { types } from 'node:util'
import { CompleteAsyncError } from '@temporalio/activity'
import { ApplicationFailure, ensureApplicationFailure, TemporalFailure } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'

/**
 * An activity may throw any value: a proxy, or an error with a getter that throws. The SDK reads such a value outside
 * of any `catch`, and the worker ends. So this interceptor reads the value once, and catches what reading throws.
 */
export const readableErrors: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input)
      } catch (thrown) {
        throw toReadableError(thrown)
      }
    },
  },
})

function toReadableError(thrown: unknown): unknown {
  try {
    return isForSdk(thrown) ? thrown : ensureApplicationFailure(thrown)
  } catch {
    return ApplicationFailure.retryable('something was thrown that can not be read')
  }
}

/** Whether the SDK knows the error. The SDK reads such errors only in the failure converter. */
function isForSdk(thrown: unknown): boolean {
  if (types.isProxy(thrown)) return false
  if (thrown instanceof TemporalFailure || thrown instanceof CompleteAsyncError) return true
  return thrown instanceof Error && thrown.name === 'AbortError'
}
