import { type ErrorCode, PtcError } from '../common/errors.js'
import { truncateEnd } from '../common/text/text.js'
import { HttpError } from '../http/index.js'

/** The status of every other code is 500. */
const statusOfCode: Partial<Readonly<Record<ErrorCode, number>>> = {
  RUN_INPUT_INVALID: 400,
  COMPLETION_TOKEN_INVALID: 400,
  TOOL_INPUT_INVALID: 400,
  TOOL_OUTPUT_INVALID: 400,
  TOOL_RESULT_TOO_LARGE: 400,
  CONVERSATION_NOT_FOUND: 404,
  MESSAGE_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  CALL_NOT_FOUND: 404,
  TEMPORAL_NOT_FOUND: 404,
  CONVERSATION_CLOSED: 409,
  CONVERSATION_BUSY: 409,
  CALL_COMPLETED: 409,
  CALL_EXPIRED: 410,
  CONVERSATION_FULL: 429,
  RUN_BUSY: 503,
  TEMPORAL_UNREACHABLE: 503,
  WORKER_MISSING: 503,
  VALUE_STORE_UNAVAILABLE: 503,
}

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string }
}

/** Whether users of an agent can do something about the error. Messages of all other errors are for its operators. */
function isForUsers(code: string): boolean {
  if (code === 'WORKER_MISSING' || code === 'RUN_BUSY' || code === 'LIMIT_EXCEEDED') return true
  return Object.hasOwn(statusOfCode, code) && (statusOfCode[code as ErrorCode] ?? 500) < 500
}

/** An error of a run in the form for users of the agent. It keeps its code; the message stays in the run. */
export function publicError(error: ErrorBody['error']): ErrorBody['error'] {
  if (isForUsers(error.code)) return error
  return { code: error.code, message: "the agent can't work now; its operators can find the reason with `ptc show`" }
}

/** A message may quote text that a client sent. */
export const maxMessageCharacters = 2_000

/** The response to a request that failed (invariant 2). It hides errors of other packages, which may name internal details. */
export function toErrorReply(thrown: unknown): { readonly status: number; readonly body: ErrorBody } {
  if (thrown instanceof HttpError) {
    const { code, message, status } = thrown
    return { status, body: { error: { code, message: shorten(message) } } }
  }
  if (PtcError.isInstance(thrown)) {
    const { code, message, hint } = thrown
    const error = publicError({ code, message: shorten(message), ...(hint !== undefined && { hint: shorten(hint) }) })
    return { status: statusOfCode[code] ?? 500, body: { error } }
  }
  return {
    status: 500,
    body: { error: { code: 'INTERNAL', message: 'the request failed; see the log of the server' } },
  }
}

function shorten(text: string): string {
  return truncateEnd(text, maxMessageCharacters)
}
