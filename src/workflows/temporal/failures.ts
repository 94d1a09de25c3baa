import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TimeoutFailure } from '@temporalio/workflow'

/** A text for the model, in place of an answer. */
export const interruptedNote = '(A person interrupted the work on this message.)'

/** Returns code and message of the innermost failure, which says what happened. */
export function failureOf(thrown: unknown): { readonly code: string; readonly message: string } {
  const cause = thrown instanceof ActivityFailure || thrown instanceof ChildWorkflowFailure ? thrown.cause : thrown
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'INTERNAL', message }
  return { code: cause instanceof TimeoutFailure ? 'RUN_TIMED_OUT' : 'INTERNAL', message }
}
