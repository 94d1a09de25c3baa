import {
  ApplicationFailure,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import { isTransient } from './temporal-error.js'

/** Returns whether a request about an update may be sent again: the server accepts an update id once. */
export function isRepeatableUpdate(thrown: unknown): boolean {
  return thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTransient(thrown)
}

/** Returns whether an update was accepted, and got no response before its execution closed. */
export function isUnanswered(thrown: unknown): boolean {
  // This is the error type of the server.
  return updateFailureType(thrown) === 'AcceptedUpdateCompletedWorkflow'
}

/** Returns the type of the failure of an update; undefined for any other error. */
export function updateFailureType(thrown: unknown): string | undefined {
  if (!(thrown instanceof WorkflowUpdateFailedError)) return undefined
  const { cause } = thrown
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined
}
