import {
  ApplicationFailure,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import { isTransient } from './temporal-error.js'

/** Whether a request about an update may be sent again: its id makes the server accept the update once. */
export function isRepeatableUpdate(thrown: unknown): boolean {
  return thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTransient(thrown)
}

/** Whether an update was accepted, and got no response before its execution closed. */
export function isUnanswered(thrown: unknown): boolean {
  // The server's error type.
  return updateFailureType(thrown) === 'AcceptedUpdateCompletedWorkflow'
}

/** The type of the failure of an update; undefined for any other error. */
export function updateFailureType(thrown: unknown): string | undefined {
  if (!(thrown instanceof WorkflowUpdateFailedError)) return undefined
  const { cause } = thrown
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined
}
