import { z } from 'zod'
import type { Effect } from '../../common/calls/calls.js'
import type { RemoteTarget, RetryIntervals } from '../../common/calls/tool-config.js'
import type { Duration } from '../../common/text/duration.js'
import type { InvalidError } from './invalid-tool.js'
import { parseOption } from './invalid-tool.js'
import { milliseconds } from './options.js'

/** The retry policy of a tool, with Temporal's names and their meaning. */
export interface RetryDefinition {
  /** Maximum attempts, from 1 to 100. Default 3. */
  readonly attempts?: number
  /** Time before the second attempt. Default 500 ms. */
  readonly initialInterval?: Duration
  /** Factor between an interval and the one before. Default 2. */
  readonly backoffCoefficient?: number
  /** Default 30 seconds. */
  readonly maximumInterval?: Duration
  /** Names of error classes. A call that fails with such an error is not retried. */
  readonly nonRetryableErrorTypes?: readonly string[]
}

const defaultAttempts = 3

const schema = z
  .strictObject({
    attempts: z.int().min(1).max(100).optional(),
    initialInterval: milliseconds.optional(),
    backoffCoefficient: z.number().min(1).max(100).optional(),
    maximumInterval: milliseconds.optional(),
    nonRetryableErrorTypes: z.array(z.string().min(1).max(200)).max(50).optional(),
  })
  .refine(
    ({ initialInterval = 0, maximumInterval = Infinity }) => initialInterval <= maximumInterval,
    'initialInterval is over maximumInterval',
  )

export interface RetryOptions {
  readonly attempts: number
  readonly retry?: RetryIntervals
}

/** @throws PtcError CONFIG_INVALID */
export function parseRetry(
  { effect, retry }: { readonly effect: Effect; readonly retry?: unknown },
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): RetryOptions {
  const hasPolicy = remote === undefined || remote.kind === 'activity'
  if (retry === undefined) return { attempts: effect === 'once' || !hasPolicy ? 1 : defaultAttempts }
  if (!hasPolicy) {
    throw invalid(
      `retry is not for a tool that is a ${remote.kind === 'workflow' ? 'workflow' : 'Nexus operation'}`,
      remote.kind === 'workflow'
        ? 'A workflow retries its own activities.'
        : 'Temporal retries a Nexus operation until its timeout.',
    )
  }
  const { attempts = effect === 'once' ? 1 : defaultAttempts, ...intervals } = parseOption(
    'retry',
    schema,
    retry,
    invalid,
  )
  if (effect === 'once' && (attempts !== 1 || Object.keys(intervals).length > 0)) {
    throw invalid(
      "retry can only be { attempts: 1 } for effect 'once'",
      "A tool that may be repeated with the same idempotency key is effect 'idempotent'.",
    )
  }
  const {
    initialInterval: initialMs,
    maximumInterval: maximumMs,
    backoffCoefficient,
    nonRetryableErrorTypes,
  } = intervals
  if (Object.keys(intervals).length === 0) return { attempts }
  return {
    attempts,
    retry: Object.freeze({
      ...(initialMs !== undefined && { initialMs }),
      ...(backoffCoefficient !== undefined && { backoffCoefficient }),
      ...(maximumMs !== undefined && { maximumMs }),
      ...(nonRetryableErrorTypes !== undefined && { nonRetryableErrorTypes }),
    }),
  }
}
