import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  ContinueAsNew,
  isCancellation,
  setHandler,
  type SignalDefinition,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'

export function rejection(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}

/**
 * Runs the body of a workflow or of an update handler. A plain error is a defect of the engine, and fails the run with
 * code `INTERNAL` and the message of the error (invariant 4 of `index.ts`).
 */
export async function failWorkflowOnError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof TemporalFailure || thrown instanceof ContinueAsNew) throw thrown
    const { message, stack } = thrown instanceof Error ? thrown : { message: String(thrown), stack: undefined }
    throw ApplicationFailure.create({ message, type: 'INTERNAL', nonRetryable: true, details: [stack ?? null] })
  }
}

/**
 * Returns code and message of the error that failed an activity.
 *
 * @throws cancellations, and what is not the failure of an activity
 */
export function activityErrorOf(thrown: unknown): { readonly code: string; readonly message: string } {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  const code = cause instanceof ApplicationFailure ? (cause.type ?? '') : ''
  return { code, message: cause?.message ?? thrown.message }
}

/** Returns whether an activity failed with one of these codes. */
export function hasFailedWith(thrown: unknown, ...codes: readonly ErrorCode[]): boolean {
  const cause = thrown instanceof ActivityFailure ? thrown.cause : undefined
  return cause instanceof ApplicationFailure && codes.some((code) => code === cause.type)
}

/** Returns code and message of the innermost failure, which says what happened. */
export function failureOf(thrown: unknown): { readonly code: string; readonly message: string } {
  const cause = thrown instanceof ActivityFailure || thrown instanceof ChildWorkflowFailure ? thrown.cause : thrown
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'INTERNAL', message }
  return { code: cause instanceof TimeoutFailure ? 'RUN_TIMED_OUT' : 'INTERNAL', message }
}

/**
 * Handles a signal. Any client may send one, with any content, and the server delivers it again with each workflow
 * task: an error of the handler would fail all of them. So a signal is dropped when its handler can't read it.
 */
export function handleSignal<Args extends unknown[]>(
  definition: SignalDefinition<Args>,
  handler: (...args: Args) => void | Promise<void>,
): void {
  setHandler(definition, (...args: Args) => {
    try {
      return handler(...args)?.catch(dropUnreadable)
    } catch (thrown) {
      return dropUnreadable(thrown)
    }
  })
}

function dropUnreadable(thrown: unknown): void {
  if (thrown instanceof TemporalFailure) throw thrown
}
