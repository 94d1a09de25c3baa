import { types } from 'node:util'
import { CompleteAsyncError } from '@temporalio/activity'
import { ApplicationFailure, ensureApplicationFailure, TemporalFailure } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'

/**
 * An activity may throw anything: a proxy, or an error with a getter that throws. The SDK reads such a value where it
 * catches nothing, and the worker ends. So the value is read here, once.
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

/** True for the errors that the SDK knows, which it reads in the failure converter only. */
function isForSdk(thrown: unknown): boolean {
  if (types.isProxy(thrown)) return false
  if (thrown instanceof TemporalFailure || thrown instanceof CompleteAsyncError) return true
  return thrown instanceof Error && thrown.name === 'AbortError'
}
