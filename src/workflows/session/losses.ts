/* Losses of sandboxes: which failures of an activity are one, what such a failure still has, and the cause for metrics. */

import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow'
import { readStoredResult } from '../../common/calls/stored-result.js'
import type { StepActivityResult } from '../../common/session/steps.js'
import { hasFailedWith } from '../temporal/failures.js'

/** Returns why the host or its sandboxes count as lost; undefined for every other failure. */
export function hostLossReason(thrown: unknown): string | undefined {
  if (!(thrown instanceof ActivityFailure)) return undefined
  const { cause } = thrown
  // Invariant 2 of `sandbox.ts`.
  if (cause instanceof TimeoutFailure) return `the sandbox host does not answer (${cause.timeoutType ?? 'timeout'})`
  // All retries failed for minutes, so the daemon of the host is unavailable.
  return hasFailedWith(thrown, 'SANDBOX_UNAVAILABLE', 'SANDBOX_BACKEND_DOWN') ? cause?.message : undefined
}

/** Returns the result that a lost host has stored with its heartbeats; undefined when there is none. */
export function storedResultOf(thrown: unknown): StepActivityResult | undefined {
  // A later timeout, of an attempt that no host took, has an earlier one as its cause.
  for (let cause = thrown; cause instanceof Error; cause = cause.cause) {
    const stored = cause instanceof TimeoutFailure ? readStoredResult(cause.lastHeartbeatDetails) : undefined
    if (stored !== undefined) return stored as StepActivityResult
  }
  return undefined
}

export function lossCause({
  cause,
  hostUnreachable,
  fenced: isFenced,
}: Extract<StepActivityResult, { type: 'lost' }>): string {
  if (hostUnreachable === true) return 'host_unreachable'
  return isFenced === true ? 'fenced' : cause
}
