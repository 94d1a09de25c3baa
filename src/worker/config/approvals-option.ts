import { z } from 'zod'
import type { ApprovalRequest } from '../../activities/tool-call/request-approval.js'
import { parseDuration } from '../../tools/duration.js'
import type { Duration } from '../../tools/duration.js'

/** How people learn of calls that need approval. */
export interface ApprovalsOption {
  /** A call without a decision after this time is denied. Default 7 days. */
  readonly expires?: Duration
  /**
   * Tells people of a call that waits, for example by a message. It is called at least once for each call, and again
   * when it throws. Default: no notification; `ptc calls list` shows the calls that wait.
   */
  readonly onRequest?: (request: ApprovalRequest) => void | Promise<void>
}

const maxExpiresMs = 366 * 24 * 60 * 60 * 1_000

const expires = z
  .custom<Duration>()
  .default('7d')
  .transform((duration, context) => {
    const ms = parseDuration(duration, maxExpiresMs)
    if (ms !== undefined) return ms
    context.addIssue("must be milliseconds or text such as '7d', above 0 and at most 366 days")
    return z.NEVER
  })

export const approvalsOption = z.strictObject({
  expires,
  onRequest: z
    .custom<NonNullable<ApprovalsOption['onRequest']>>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})
