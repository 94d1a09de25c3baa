import { z } from 'zod'
import type { Caller } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import { parseDuration } from '../../common/text/duration.js'
import type { Duration } from '../../common/text/duration.js'
import type { CallingRun } from '../../tools/tool-context.js'

/** A call that waits for the approval of a person. */
export interface ApprovalRequest {
  readonly tool: string
  /** A description of the call on one line, after the redaction hook. */
  readonly summary: string
  readonly arguments: JsonObject
  readonly caller: Caller
  readonly run: CallingRun
  /** The `context` of the run. */
  readonly context: JsonObject
  /** Approves or denies only this call: `ptc.approveCall(token)`, `ptc.denyCall(token, reason)`. */
  readonly token: string
  /** Milliseconds until the call is denied. */
  readonly expiresMs: number
}

/** How people learn of calls that need approval. */
export interface ApprovalsOption {
  /** A call without a decision after this time is denied. Default 7 days. */
  readonly expires?: Duration
  /**
   * Tells people of a call that waits, for example by a message. It is called at least once for each call, and again
   * when it throws. Default: no notification; `ptc approvals` shows the calls that wait.
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
