import type { ErrorCode } from './errors.js'
import type { CallStatus } from './outcomes.js'

/** Error codes of a tool activity that mean something of their own to the caller; all others are the tool's failure. */
const statusOf: { readonly [Code in ErrorCode]?: Exclude<CallStatus, 'ok'> } = {
  TOOL_UNKNOWN: 'denied',
  TOOL_NOT_ALLOWED: 'denied',
  TOOL_INPUT_INVALID: 'invalid_arguments',
  TOOL_TIMED_OUT: 'timed_out',
  TOOL_NOT_REGISTERED: 'denied',
  TOOL_CHANGED: 'invalid_arguments',
  TOOL_LOST: 'timed_out',
  TOOL_BLOCKED: 'timed_out',
  TOOL_OUTCOME_UNKNOWN: 'outcome_unknown',
}

/** What a tool activity's error code means to whoever made the call. */
export function callStatusOf(code: string): Exclude<CallStatus, 'ok'> {
  return statusOf[code as ErrorCode] ?? 'tool_error'
}

/** The type the SDK gives an activity that was interrupted because its worker stops. */
export const workerShutdown = 'WorkerShutdown'
