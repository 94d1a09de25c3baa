import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TimeoutFailure } from '@temporalio/workflow'
import { maxMessageBytes } from '../../common/runs/conversation.js'
import type { ErrorCode } from '../../common/errors.js'
import { utf8Length } from '../../common/text/text.js'

/** The innermost failure says what happened. */
export function failureOf(thrown: unknown): { readonly code: string; readonly message: string } {
  const cause = thrown instanceof ActivityFailure || thrown instanceof ChildWorkflowFailure ? thrown.cause : thrown
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'INTERNAL', message }
  return { code: cause instanceof TimeoutFailure ? 'RUN_TIMED_OUT' : 'INTERNAL', message }
}

/** The failure of an update. */
export function rejection(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}

/** The text of a message, which not only our client sends. @throws ApplicationFailure RUN_INPUT_INVALID */
export function checkText(text: string): void {
  if (typeof text !== 'string' || text.trim() === '') throw rejection('RUN_INPUT_INVALID', 'the message is empty')
  const bytes = utf8Length(text)
  if (bytes <= maxMessageBytes) return
  throw rejection('RUN_INPUT_INVALID', `the message has ${bytes} bytes; at most ${maxMessageBytes} are allowed`)
}
