import { z } from 'zod'
import { defined } from '../../common/defined.js'
import type { OptionBasis } from './option-basis.js'
import type { Tool } from '../tool.js'
import { parseOption } from './invalid-tool.js'
import { milliseconds } from './options.js'

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

/** @throws PtcError CONFIG_INVALID */
export function parseRetry({
  definition: { effect, retry },
  remote,
  invalid,
}: OptionBasis): Pick<Tool, 'attempts' | 'retry'> {
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
    retry: Object.freeze(defined({ initialMs, backoffCoefficient, maximumMs, nonRetryableErrorTypes })),
  }
}
