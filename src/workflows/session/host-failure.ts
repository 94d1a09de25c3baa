import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'

/** After a reset the sandbox has seen steps that this run has yet to take. */
export function isFencedFailure(thrown: unknown): boolean {
  if (!(thrown instanceof ActivityFailure)) return false
  return thrown.cause instanceof ApplicationFailure && thrown.cause.type === fenced
}

const fenced: ErrorCode = 'SANDBOX_FENCED'

/** Why the host must be taken for dead, or its sandboxes for lost; undefined when the failure says nothing of the kind. */
export function hostLossReason(thrown: unknown): string | undefined {
  if (!(thrown instanceof ActivityFailure)) return undefined
  const { cause } = thrown
  if (cause instanceof TimeoutFailure) return `the sandbox host does not answer (${cause.timeoutType ?? 'timeout'})`
  // Tried again for minutes by then: its daemon is away.
  return cause instanceof ApplicationFailure && cause.type === unavailable ? cause.message : undefined
}

const unavailable: ErrorCode = 'SANDBOX_UNAVAILABLE'
